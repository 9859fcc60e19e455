import { createDeferred } from "@harnesskit/wire";
import { followSignal, signalOf } from "./shell-context.ts";
import type { ResponseStream } from "./streaming/response-stream.ts";
import type { Payload } from "./to-payload.ts";

/** A handler that runs: its response, when its time is over, and its signal, which is made when it is first read. */
export class RunningHandler {
  /** Settles with the first response: the handler's, or one in its place. Never rejects. */
  readonly response = createDeferred<Payload>();
  readonly dueAtMs: number;
  stream: ResponseStream | undefined;
  isCancelled = false;
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

  /** The handler has ended with this response. */
  end(payload: Payload): void {
    this.#unfollow();
    this.response.resolve(payload);
  }
}
