import type { Clock } from "@harnesskit/wire";
import { RequestCancelledError, RequestTimeoutError } from "@harnesskit/wire";
import type { PendingCall } from "./pending-call.ts";
import { handlerFailure, type Refusal } from "./refusal.ts";
import type { AhpServerStats } from "./server-stats.ts";

const timedOut = (timeoutMs: number): Refusal =>
  handlerFailure("timeout", `there was no decision within ${timeoutMs} ms`, { timeout_ms: timeoutMs });

export const cancelled = (): Refusal => handlerFailure("cancelled", "nobody waits for the decision any more");

/**
 * Watches over what waits for a handler. All have the same time, so that they fall due in the order in which they came:
 * one timer, and no more than a set, serve them all.
 */
export class Supervisor<Context> {
  readonly timeoutMs: number;
  readonly #clock: Clock;
  readonly #stats: AhpServerStats;
  readonly #waiting = new Set<PendingCall<Context>>();
  #cancelTimer: (() => void) | undefined;

  constructor(options: { timeoutMs: number; clock: Clock; stats: AhpServerStats }) {
    this.timeoutMs = options.timeoutMs;
    this.#clock = options.clock;
    this.#stats = options.stats;
  }

  /** Messages that wait for their handlers. */
  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Waits for the outcome of a call, which never rejects. Where it takes longer than it has, or nobody waits for it any
   * more, `giveUp` says what comes of it instead; what it brings afterwards is dropped and counted.
   */
  watch<T>(call: PendingCall<Context>, outcome: T | Promise<T>, giveUp: (why: Refusal) => T): T | Promise<T> {
    if (!(outcome instanceof Promise)) return outcome;
    return new Promise<T>((resolve) => {
      const finish = (result: T): void => {
        call.giveUp = undefined;
        this.#waiting.delete(call);
        if (call.requestId !== undefined) call.origin.finish(call);
        resolve(result);
      };
      call.giveUp = (why) => finish(giveUp(why));
      call.dueAt = this.#clock.now() + this.timeoutMs;
      this.#waiting.add(call);
      if (!this.#cancelTimer) this.#arm(this.timeoutMs);
      if (call.requestId !== undefined) call.origin.begin(call);
      void outcome.then((result) => {
        if (call.giveUp) finish(result);
        else this.#stats.lateResults++;
      });
    });
  }

  /** Nobody waits for this call any more. */
  cancel(call: PendingCall<Context>, cause: unknown): void {
    if (!call.giveUp) return;
    this.#stats.cancelled++;
    call.giveUp(cancelled());
    call.abort(new RequestCancelledError("the decision", { cause }));
  }

  /** Cancels everything. */
  close(cause: unknown): void {
    for (const call of [...this.#waiting]) this.cancel(call, cause);
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #arm(delayMs: number): void {
    this.#cancelTimer = this.#clock.after(delayMs, this.#expire);
  }

  readonly #expire = (): void => {
    this.#cancelTimer = undefined;
    const now = this.#clock.now();
    for (const call of this.#waiting) {
      if (call.dueAt > now) {
        this.#arm(call.dueAt - now);
        return;
      }
      this.#stats.handlerTimeouts++;
      call.giveUp?.(timedOut(this.timeoutMs));
      call.abort(new RequestTimeoutError("the decision", this.timeoutMs));
    }
  };
}
