import { BufferFullError, checkNumber, createDeferred } from "@harnesskit/wire";
import { settleWithin } from "@harnesskit/wire/time";
import type { GraphErrorContext } from "../compile-options.ts";
import { thrownMessage } from "../errors.ts";
import type { NodeEvent } from "./node-event.ts";
import type { Registration } from "./observers.ts";

export interface EventQueueOptions {
  readonly invocationId: string;
  readonly maxQueuedEvents: number;
  /** Must not throw. */
  readonly onError: (error: unknown, context: GraphErrorContext) => void;
  /** Calls in the asynchronous context that observers see. */
  readonly enter: (callback: () => void) => void;
  /** The queues that have not delivered everything; this one among them until it has. */
  readonly queues: Set<EventQueue>;
}

/** An event with its observers, in order. */
interface EventDelivery {
  readonly event: NodeEvent;
  readonly to: readonly Registration[];
}

/** The events of one invocation, delivered one after the other, to one observer after the other. The run does not wait for it. */
export class EventQueue {
  readonly #options: EventQueueOptions;
  /** Settles when the events so far are delivered. */
  #tail: Promise<void> = Promise.resolve();
  /** Settles when the invocation has ended and everything is delivered or dropped. */
  readonly #idle = createDeferred<void>();
  #isCancelled = false;
  #pushed = 0;
  #delivered = 0;
  #dropped = 0;

  constructor(options: EventQueueOptions) {
    this.#options = options;
    options.queues.add(this);
  }

  get invocationId(): string {
    return this.#options.invocationId;
  }

  push(delivery: EventDelivery): void {
    if (this.#isCancelled || delivery.to.length === 0) return;
    const { maxQueuedEvents, onError, enter } = this.#options;
    if (this.#pushed - this.#delivered >= maxQueuedEvents) {
      if (this.#dropped++ > 0) return;
      const error = new BufferFullError("maxQueuedEvents", maxQueuedEvents);
      onError(error, { kind: "observer_queue_full", message: `${error.message}; events are dropped` });
      return;
    }
    this.#pushed++;
    enter(() => {
      this.#tail = this.#tail.then(() => this.#deliver(delivery));
    });
  }

  async #deliver({ event, to }: EventDelivery): Promise<void> {
    for (const { observe, phases } of to) {
      if (this.#isCancelled) return;
      if (!phases.has(event.phase)) continue;
      try {
        await observe(event);
      } catch (cause) {
        const message = `an observer of ${event.node_name} threw: ${thrownMessage(cause)}`;
        this.#options.onError(cause, { kind: "observer_failed", message });
      }
    }
    this.#delivered++;
  }

  /** No event comes after this. */
  end(): void {
    void this.#tail.then(() => this.#finish());
  }

  #finish(): void {
    this.#idle.resolve();
    this.#options.queues.delete(this);
  }

  /** Waits until the events so far are delivered, and drops nothing. */
  async drain(options: DrainOptions): Promise<DrainSummary> {
    const mark = this.#pushed;
    const isDone = await isDoneWithin(Promise.race([this.#tail, this.#idle.promise]), options);
    return { undelivered_count: isDone ? 0 : this.#undelivered(mark), timeout_reached: !isDone };
  }

  #undelivered(mark: number): number {
    return Math.max(0, mark - this.#delivered) + this.#dropped;
  }

  /** Waits until invocations have ended and their events are delivered; drops what is left when the time is over. */
  static async drainAll(queues: readonly EventQueue[], options: DrainOptions): Promise<DrainSummary> {
    const isDone = await isDoneWithin(Promise.all(queues.map((queue) => queue.#idle.promise)), options);
    const counts = queues.map((queue) => queue.#undelivered(queue.#pushed));
    if (!isDone) for (const queue of queues) queue.#cancel();
    return { undelivered_count: counts.reduce((sum, count) => sum + count, 0), timeout_reached: !isDone };
  }

  /** Drops what is not delivered. */
  #cancel(): void {
    this.#isCancelled = true;
    this.#finish();
  }
}

/** Options of `drain` and `drainEventsFor`. */
export interface DrainOptions {
  /** How long to wait, in milliseconds. @default until it is done */
  readonly timeoutMs?: number | undefined;
}

/** The result of `drain` and `drainEventsFor`. */
export interface DrainSummary {
  /** Events that are not delivered to all of their observers. */
  readonly undelivered_count: number;
  readonly timeout_reached: boolean;
}

const isDoneWithin = async (done: Promise<unknown>, { timeoutMs }: DrainOptions): Promise<boolean> => {
  if (timeoutMs !== undefined) {
    checkNumber("timeoutMs", timeoutMs, { min: 0, max: Number.POSITIVE_INFINITY, allowFraction: true });
  }
  return (await settleWithin(done, { name: "drain", timeoutMs })).status === "done";
};
