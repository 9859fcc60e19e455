import { ToolError } from "@harnesskit/agent-sdk";
import { cancelledError } from "./text.ts";

/** The end of a search: its time is over, or its caller cancelled it. Keep it for as long as its signal is needed. */
export class Deadline {
  /** Aborts at the deadline or with the caller's signal. */
  readonly signal: AbortSignal;
  readonly #caller: AbortSignal;
  /** Node 20 drops the timer of a timeout signal that only a combined signal refers to. */
  readonly #timeout: AbortSignal;
  readonly #timeoutMs: number;

  constructor(caller: AbortSignal, timeoutMs: number) {
    this.#caller = caller;
    this.#timeout = AbortSignal.timeout(timeoutMs);
    this.#timeoutMs = timeoutMs;
    this.signal = AbortSignal.any([caller, this.#timeout]);
  }

  /** Throws `ToolError` `tool.canceled` or `tool.timeout` once the end has come. */
  throwIfOver(): void {
    if (this.#caller.aborted) throw cancelledError();
    if (this.#timeout.aborted)
      throw new ToolError("tool.timeout", `the search was ended after ${this.#timeoutMs} ms`);
  }
}
