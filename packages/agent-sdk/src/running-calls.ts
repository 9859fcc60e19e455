import { type Clock, settleWithin, TimerTable } from "@harnesskit/wire/time";
import type { ToolCall } from "./tool-call.ts";

/** The calls whose tools run, of all connections, and one timer for all their deadlines. */
export class RunningCalls {
  readonly deadlines: TimerTable;
  readonly #clock: Clock;
  /** Tools that run. */
  count = 0;
  /** Those of them whose results were sent. */
  abandoned = 0;
  #idleWaiters: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
    this.deadlines = new TimerTable(clock);
  }

  add(call: ToolCall): void {
    this.count++;
    if (call.deadlineAt !== undefined) this.deadlines.set(call, call.deadlineAt);
  }

  /** The call has its result; its tool may run on. */
  settled(call: ToolCall): void {
    this.abandoned++;
    this.deadlines.clear(call);
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
