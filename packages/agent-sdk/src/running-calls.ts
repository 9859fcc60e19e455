import { type Clock, createDeferred, type Deferred } from "@harnesskit/wire";

/** A call whose tool is running. */
export interface RunningCall {
  /** When something is to happen to it; infinite for never. */
  readonly dueAt: number;
  /** Its result was sent; its tool has not noticed. */
  readonly isSettled: boolean;
  /** The time is there. */
  due(): void;
}

/** The calls whose tools run, of all connections, and one timer for all their deadlines. */
export class RunningCalls {
  readonly #clock: Clock;
  readonly #calls = new Set<RunningCall>();
  #timerAt = Number.POSITIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;
  #idle: Deferred<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get count(): number {
    return this.#calls.size;
  }

  /** Tools that still run although their results were sent. */
  get abandoned(): number {
    let count = 0;
    for (const call of this.#calls) if (call.isSettled) count++;
    return count;
  }

  add(call: RunningCall): void {
    this.#calls.add(call);
    this.watch(call);
  }

  remove(call: RunningCall): void {
    if (!this.#calls.delete(call) || this.#calls.size > 0) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }

  /** To be told when `dueAt` has become earlier. */
  watch(call: RunningCall): void {
    if (call.dueAt >= this.#timerAt) return;
    this.#arm(call.dueAt);
  }

  /** Settles when no tool runs any more, or after this time. */
  async idle(withinMs: number): Promise<void> {
    if (this.#calls.size === 0) return;
    this.#idle ??= createDeferred<void>();
    const idle = this.#idle;
    const cancel = this.#clock.after(withinMs, () => idle.resolve());
    await idle.promise;
    cancel();
    if (this.#idle === idle) this.#idle = undefined;
  }

  #arm(at: number): void {
    this.#cancelTimer?.();
    this.#timerAt = at;
    this.#cancelTimer = this.#clock.after(Math.max(0, at - this.#clock.now()), () => this.#fire());
  }

  #fire(): void {
    this.#timerAt = Number.POSITIVE_INFINITY;
    this.#cancelTimer = undefined;
    const now = this.#clock.now();
    for (const call of [...this.#calls]) if (call.dueAt <= now) call.due();
    let nextAt = Number.POSITIVE_INFINITY;
    for (const call of this.#calls) nextAt = Math.min(nextAt, call.dueAt);
    if (nextAt < this.#timerAt) this.#arm(nextAt);
  }
}
