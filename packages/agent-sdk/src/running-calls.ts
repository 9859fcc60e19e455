import { type Clock, settleWithin, TimerTable } from "@harnesskit/wire/time";
import type { ToolCall } from "./tool-call.ts";

/** The calls whose tools run, of all connections, and one timer for all their deadlines. */
export class RunningCalls {
  readonly deadlines: TimerTable;
  readonly #clock: Clock;
  readonly #calls = new Set<ToolCall>();
  #idleWaiters: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
    this.deadlines = new TimerTable(clock);
  }

  get count(): number {
    return this.#calls.size;
  }

  /** Tools that still run although their results were sent. */
  get abandoned(): number {
    return [...this.#calls].filter((call) => call.isSettled).length;
  }

  add(call: ToolCall): void {
    this.#calls.add(call);
  }

  remove(call: ToolCall): void {
    this.deadlines.clear(call);
    if (!this.#calls.delete(call) || this.#calls.size > 0) return;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  /** Settles when no tool runs, or after this time. */
  async idle(timeoutMs: number): Promise<void> {
    if (this.#calls.size === 0) return;
    const idle = new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
    await settleWithin(idle, { name: "idle", timeoutMs, clock: this.#clock, holdsProcess: false });
  }
}
