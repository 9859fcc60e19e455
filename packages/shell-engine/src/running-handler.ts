import { createDeferred, LazyAbort } from "@harnesskit/wire";
import { followSignal, signalOf } from "./shell-context.ts";
import type { ResponseStream } from "./streaming/response-stream.ts";
import type { Payload } from "./to-payload.ts";

/** A handler that runs. */
export class RunningHandler {
  /** Settles with the first response: the handler's, or one in its place. Never rejects. */
  readonly response = createDeferred<Payload>();
  readonly abort = new LazyAbort();
  stream: ResponseStream | undefined;
  isCancelled = false;
  #unfollow: (() => void) | undefined;

  /** @param context where it is given, its signal aborts the handler's */
  constructor(
    readonly dueAtMs: number,
    readonly context: unknown,
  ) {}

  get signal(): AbortSignal {
    this.#unfollow ??= followSignal(this.abort, signalOf(this.context));
    return this.abort.signal;
  }

  /** The handler has ended with this response. */
  end(payload: Payload): void {
    this.#unfollow?.();
    this.response.resolve(payload);
  }
}
