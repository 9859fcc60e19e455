import { ToolError } from "@harnesskit/agent-sdk";
import { cancelledError } from "./text.ts";

/** The end of a piece of work: its time is over, or its caller has given it up. */
export class Deadline {
  readonly #parent: AbortSignal;
  readonly #timeoutMs: number;
  readonly #over = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #end = () => this.#over.abort();

  constructor(parent: AbortSignal, timeoutMs: number) {
    this.#parent = parent;
    this.#timeoutMs = timeoutMs;
    this.#timer = setTimeout(this.#end, timeoutMs);
    parent.addEventListener("abort", this.#end, { once: true });
    if (parent.aborted) this.#end();
  }

  /** Aborts at the deadline or with the caller's signal. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** The `ToolError` for an end that has come: `tool.canceled` or `tool.timeout`. */
  error(): ToolError {
    if (this.#parent.aborted) return cancelledError();
    return new ToolError("tool.timeout", `the search was ended after ${this.#timeoutMs} ms`);
  }

  /** Throws {@link Deadline.error} once the end has come. */
  throwIfOver(): void {
    if (this.#over.signal.aborted) throw this.error();
  }

  /** Lets go of the timer and of the caller's signal. */
  dispose(): void {
    clearTimeout(this.#timer);
    this.#parent.removeEventListener("abort", this.#end);
  }
}
