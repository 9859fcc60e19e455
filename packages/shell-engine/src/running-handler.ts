import type { Payload } from "./finish-reply.ts";
import { followSignal, signalOf } from "./shell-context.ts";
import type { ResponseStream } from "./streaming/response-stream.ts";

/** A handler that runs: when its time is over, and its signal, which is made when it is first read. */
export class RunningHandler {
  readonly dueAtMs: number;
  /** Answers everyone who waits for the handler, in its place. */
  giveUp: () => void = () => {};
  /** The response to a request that its shell has cancelled. */
  cancelled: Payload | undefined;
  stream: ResponseStream | undefined;
  readonly #context: unknown;
  #abort: AbortController | undefined;
  #reason: unknown;
  #unfollow: () => void = () => {};

  /** Where a context is given, its signal aborts the handler's. */
  constructor(dueAtMs: number, context: unknown) {
    this.dueAtMs = dueAtMs;
    this.#context = context;
  }

  get signal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController();
      if (this.#reason !== undefined) this.#abort.abort(this.#reason);
      else this.#unfollow = followSignal(this.#abort, signalOf(this.#context));
    }
    return this.#abort.signal;
  }

  abort(reason: unknown): void {
    this.#reason ??= reason;
    this.#abort?.abort(reason);
  }

  /** The handler has ended. */
  end(): void {
    this.#unfollow();
  }
}
