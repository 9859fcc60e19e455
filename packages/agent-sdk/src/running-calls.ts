import { type Clock, settleWithin } from "@harnesskit/wire/time";

/** How many tools run, for calls of all connections. */
export class RunningCalls {
  readonly #clock: Clock;
  /** Tools that run. */
  count = 0;
  /** Those of them whose results were sent. */
  abandoned = 0;
  #idleWaiters: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(): void {
    this.count++;
  }

  /** The call has its result; its tool may run on. */
  settled(): void {
    this.abandoned++;
  }

  /** The tool of a call that was settled has ended. */
  remove(): void {
    this.abandoned--;
    if (--this.count > 0) return;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  /** Settles when no tool runs, or after this time. */
  async idle(timeoutMs: number): Promise<void> {
    if (this.count === 0) return;
    const idle = new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
    await settleWithin(idle, { name: "idle", timeoutMs, clock: this.#clock, holdsProcess: false });
  }
}
