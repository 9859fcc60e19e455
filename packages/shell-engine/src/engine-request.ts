import type { ShellContext, ShellRequest } from "@harnesskit/protocol/openharness";
import { createDeferred, LazyAbort } from "@harnesskit/wire";
import type { Negotiated } from "./capability-offer.ts";
import type { ContinuationClaims } from "./continuation-token.ts";
import { type HttpTrace, traceOf } from "./http-trace.ts";
import { messageIdOf, type ReadRequest } from "./read-request.ts";
import { createRedact, type Redact, redactNothing } from "./redaction.ts";
import type { ResumedRun } from "./shell-call.ts";
import { followSignal, signalOf } from "./shell-context.ts";
import type { ResponseStream } from "./streaming/response-stream.ts";
import type { Payload } from "./to-payload.ts";

/** One message from its arrival to its response: what is known of it so far, and the handler that works on it. */
export class EngineRequest<Context> {
  readonly requestId: string | undefined;
  readonly correlationId: string | undefined;
  readonly trace: HttpTrace;
  request: ShellRequest | undefined;
  extension: ReadRequest["extension"];
  /** `request.context`. */
  asked: ShellContext = {};
  redact: Redact = redactNothing;
  principal: unknown;
  /** One string for the sender. */
  owner = "";
  /** Whether its continuation is the handler's to check. */
  isForeign = false;
  /** What its continuation says, where it has one in the engine's form. */
  claims: ContinuationClaims | undefined;
  sessionId: string | undefined;
  /** Under which it is remembered. Undefined without a request_id. */
  key: string | undefined;
  isReplay = false;
  run: ResumedRun | undefined;
  /** When the engine stops waiting for its handler, in milliseconds since the epoch. */
  dueAtMs = 0;
  stream: ResponseStream | undefined;
  isCancelled = false;
  /** Settles with the first response: the handler's, or one in its place. Never rejects. */
  readonly response = createDeferred<Payload>();
  readonly #abort = new LazyAbort();
  #unfollow: (() => void) | undefined;

  /**
   * @param startedAt by `elapsedMs` of the clock
   * @param text the message as JSON, as it came; "" where it came parsed
   * @param onStream set where the response can be a stream: called at once when it is one
   */
  constructor(
    message: unknown,
    readonly context: Context,
    maxIdLength: number,
    readonly startedAt: number,
    public negotiated: Negotiated,
    public text: string,
    public onStream: ((stream: ResponseStream) => void) | undefined,
  ) {
    this.trace = traceOf(context);
    this.requestId = messageIdOf(message, "request_id", maxIdLength);
    this.correlationId = messageIdOf(message, "correlation_id", maxIdLength) ?? this.trace.correlationId;
  }

  /** The message is valid. */
  accept({ request, extension }: ReadRequest, negotiated: Negotiated): void {
    const { auth, context = {} } = request.request;
    this.request = request;
    this.extension = extension;
    this.asked = context;
    this.negotiated = negotiated;
    this.redact = createRedact(auth, context.environment_state, context.user_intent);
  }

  /** Aborts with `abort`, and for a request without an id, for which no shell can come back, with the signal of its context. */
  get signal(): AbortSignal {
    if (this.key === undefined) this.#unfollow ??= followSignal(this.#abort, signalOf(this.context));
    return this.#abort.signal;
  }

  abort(reason: unknown): void {
    this.#abort.abort(reason);
  }

  /** Its handler has ended with this response. */
  end(payload: Payload): void {
    this.#unfollow?.();
    this.response.resolve(payload);
  }
}
