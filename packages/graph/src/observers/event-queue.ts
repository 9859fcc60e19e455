import { BufferFullError, checkNumber, createDeferred } from "@harnesskit/wire";
import { settleWithin } from "@harnesskit/wire/time";
import { thrownMessage } from "../errors.ts";
import type { Host } from "../run/host.ts";
import type { NodeEvent } from "./node-event.ts";
import type { Registration } from "./observers.ts";

/** The events of one invocation, delivered one after the other, to one observer after the other. The run does not wait for it. */
export class EventQueue {
  readonly invocationId: string;
  readonly #host: Pick<Host, "queues" | "maxQueuedEvents" | "onError">;
  readonly #enter: (callback: () => void) => void;
  /** Settles when the events so far are delivered. */
  #tail: Promise<void> = Promise.resolve();
  /** Settles when the invocation has ended and everything is delivered or dropped. */
  readonly #idle = createDeferred<void>();
  #isCancelled = false;
  #pushed = 0;
  #delivered = 0;
  #dropped = 0;

  /** @param enter calls in the asynchronous context that observers see */
  constructor(
    host: Pick<Host, "queues" | "maxQueuedEvents" | "onError">,
    invocationId: string,
    enter: (callback: () => void) => void,
  ) {
    this.invocationId = invocationId;
    this.#host = host;
    this.#enter = enter;
    host.queues.add(this);
  }

  push(event: NodeEvent, to: readonly Registration[]): void {
    if (this.#isCancelled || to.length === 0) return;
    const { maxQueuedEvents, onError } = this.#host;
    if (this.#pushed - this.#delivered >= maxQueuedEvents) {
      if (this.#dropped++ > 0) return;
      const error = new BufferFullError("maxQueuedEvents", maxQueuedEvents);
      onError(error, { kind: "observer_queue_full", message: `${error.message}; events are dropped` });
      return;
    }
    this.#pushed++;
    this.#enter(() => {
      this.#tail = this.#tail.then(() => this.#deliver(event, to));
    });
  }

  async #deliver(event: NodeEvent, to: readonly Registration[]): Promise<void> {
    for (const { observe, phases } of to) {
      if (this.#isCancelled) return;
      if (!phases.has(event.phase)) continue;
      try {
        await observe(event);
      } catch (cause) {
        const message = `an observer of ${event.node_name} threw: ${thrownMessage(cause)}`;
        this.#host.onError(cause, { kind: "observer_failed", message });
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
    this.#host.queues.delete(this);
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
    for (const queue of isDone ? [] : queues) {
      queue.#isCancelled = true;
      queue.#finish();
    }
    return { undelivered_count: counts.reduce((sum, count) => sum + count, 0), timeout_reached: !isDone };
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
