import { createDeferred, type Deferred } from "@harnesskit/wire";
import { messageOf } from "../errors.ts";
import type { Delivery } from "./observers.ts";
import type { GraphWarning } from "./warn.ts";

export interface EventQueueOptions {
  readonly invocationId: string;
  readonly maxQueuedEvents: number;
  /** Must not throw. */
  readonly onWarning: (warning: GraphWarning) => void;
  /** Calls in the asynchronous context that observers see. */
  readonly enter: (callback: () => void) => void;
  /** Called when the invocation has ended and everything is delivered or given up. */
  readonly onIdle: (queue: EventQueue) => void;
}

/** The events of one invocation, delivered one after the other, to one observer after the other. Nobody waits for it. */
export class EventQueue {
  readonly invocationId: string;
  readonly #options: EventQueueOptions;
  #queued: Delivery[] = [];
  #head = 0;
  /** How many events were delivered, given up or dropped so far. */
  #done = 0;
  #isBusy = false;
  #isEnded = false;
  #isCancelled = false;
  #dropped = 0;
  #waiting: { readonly until: number; readonly deferred: Deferred<void> }[] = [];
  #pushed = 0;

  constructor(options: EventQueueOptions) {
    this.invocationId = options.invocationId;
    this.#options = options;
  }

  push(delivery: Delivery): void {
    if (this.#isCancelled) return;
    if (this.#queued.length - this.#head >= this.#options.maxQueuedEvents) {
      if (this.#dropped++ === 0) {
        const message = `maxQueuedEvents of ${this.#options.maxQueuedEvents} is reached; events are dropped`;
        this.#options.onWarning({ kind: "observer_queue_full", message });
      }
      return;
    }
    this.#queued.push(delivery);
    this.#pushed++;
    if (!this.#isBusy) this.#options.enter(() => void this.#work());
  }

  /** No event comes after this. */
  end(): void {
    this.#isEnded = true;
    if (!this.#isBusy) this.#finish();
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    // The node that made the event goes on first.
    await undefined;
    while (!this.#isCancelled && this.#head < this.#queued.length) {
      const { event, to } = this.#queued[this.#head++] as Delivery;
      if (this.#head > 1024) {
        this.#queued = this.#queued.slice(this.#head);
        this.#head = 0;
      }
      for (const { observe, phases } of to) {
        if (this.#isCancelled) break;
        if (!phases.has(event.phase)) continue;
        try {
          await observe(event);
        } catch (cause) {
          this.#warn(cause, event.node_name);
        }
      }
      this.#done++;
      this.#settle();
    }
    this.#isBusy = false;
    if (this.#isEnded) this.#finish();
  }

  #warn(cause: unknown, node: string): void {
    const message = `an observer of ${node} threw: ${messageOf(cause)}`;
    this.#options.onWarning({ kind: "observer_failed", message, cause });
  }

  #settle(): void {
    const isOver = this.#isCancelled || (this.#isEnded && this.#done >= this.#pushed);
    const rest = this.#waiting.filter(({ until, deferred }) => {
      if (!isOver && this.#done < until) return true;
      deferred.resolve();
      return false;
    });
    this.#waiting = rest;
  }

  #finish(): void {
    this.#settle();
    this.#options.onIdle(this);
  }

  /** Settles when the events so far are delivered. */
  delivered(): Promise<void> {
    return this.#until(this.#pushed);
  }

  /** Settles when the invocation has ended and all its events are delivered. */
  idle(): Promise<void> {
    return this.#until(Number.POSITIVE_INFINITY);
  }

  #until(until: number): Promise<void> {
    const isOver = this.#isCancelled || (this.#isEnded && this.#done >= this.#pushed);
    if (isOver || this.#done >= until) return Promise.resolve();
    const deferred = createDeferred<void>();
    this.#waiting.push({ until, deferred });
    return deferred.promise;
  }

  /** How many of the first events are not delivered: of all so far, or of those up to a mark. */
  undelivered(mark = this.#pushed): number {
    return Math.max(0, mark - this.#done) + this.#dropped;
  }

  /** How many events there were so far. */
  get mark(): number {
    return this.#pushed;
  }

  /** Gives up what is not delivered. */
  cancel(): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    this.#queued = [];
    this.#head = 0;
    this.#finish();
  }
}
