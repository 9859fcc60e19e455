import type { Params, RequestId } from "@harnesskit/protocol/envelope";
import type { ConnectionClosedError, RequestCancelledError } from "../errors.ts";
import type { ProtocolError } from "../protocol-error.ts";

/** What a request handler gets beside the method and its parameters. */
export interface Call<Context = unknown> {
  readonly id: RequestId;
  /** Aborts when the caller cancels or the connection closes. */
  readonly signal: AbortSignal;
  /** What the transport knows about the caller. */
  readonly context: Context;
  /**
   * Answers now; what the handler returns afterwards is ignored. For what has to leave behind the answer: anything
   * sent after this call arrives after it. A second answer is ignored. Never throws.
   */
  reply(result: unknown): void;
}

/** Where the answer goes: out directly, or into the batch that the call came in. */
export interface ReplySink {
  result(call: { id: RequestId; method: string }, result: unknown): void;
  error(id: RequestId, error: ProtocolError): void;
}

/** One request that is being handled. Answered exactly once. */
export class InboundCall<Context> implements Call<Context> {
  #abort: AbortController | undefined;
  #aborted: unknown;
  #answered = false;

  constructor(
    readonly id: RequestId,
    readonly method: string,
    readonly params: Params | undefined,
    readonly context: Context,
    readonly sink: ReplySink,
  ) {}

  get answered(): boolean {
    return this.#answered;
  }

  get signal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController();
      if (this.#aborted !== undefined) this.#abort.abort(this.#aborted);
    }
    return this.#abort.signal;
  }

  reply(result: unknown): void {
    if (this.#answered) return;
    this.#answered = true;
    this.sink.result(this, toResult(result));
  }

  fail(error: ProtocolError): void {
    if (this.#answered) return;
    this.#answered = true;
    this.sink.error(this.id, error);
  }

  cancel(reason: RequestCancelledError | ConnectionClosedError): void {
    this.#aborted ??= reason;
    this.#abort?.abort(reason);
  }
}

/** Undefined becomes null. What JSON would silently leave out becomes what it refuses, so that it is reported. */
const toResult = (result: unknown): unknown => {
  if (result === undefined) return null;
  return typeof result === "function" || typeof result === "symbol" ? 0n : result;
};
