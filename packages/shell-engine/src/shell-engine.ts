import {
  createActionRegistry,
  isStreamFrame,
  OPENHARNESS_VERSION,
  parseStreamCancel,
  ShellCapability,
  type ShellResponse,
  type StreamCancel,
  type StreamFrame,
} from "@harnesskit/protocol/openharness";
import {
  type Channel,
  ConnectionClosedError,
  callSafely,
  type HarnessError,
  randomId,
} from "@harnesskit/wire";
import { ChannelServer } from "@harnesskit/wire/rpc";
import { systemClock } from "@harnesskit/wire/time";
import { type Span, SpanKind, traced } from "@harnesskit/wire/trace";
import { type Admit, createAdmission } from "./admission.ts";
import { allDenials, CapabilityOffer } from "./capability-offer.ts";
import { MemoryContinuationStore } from "./continuation-store.ts";
import { Continuations } from "./continuations.ts";
import type { EngineParts } from "./engine-parts.ts";
import { EngineRequest } from "./engine-request.ts";
import { Failures, notJson } from "./failure.ts";
import { shellReplyHeaders, traceOfMessage } from "./http-trace.ts";
import { shellEngineLimits } from "./limits.ts";
import { checkShellEngineOptions } from "./option-names.ts";
import { messageIdOf, readRequest, supportedVersions } from "./read-request.ts";
import { RequestRunner } from "./request-runner.ts";
import { Router } from "./routes.ts";
import { contextOf } from "./shell-context.ts";
import type { ShellEngineOptions } from "./shell-engine-options.ts";
import { writeLog } from "./shell-log.ts";
import { lastAnswer } from "./streaming/last-answer.ts";
import type { ResponseStream } from "./streaming/response-stream.ts";
import type { Payload } from "./to-payload.ts";

type OnStream = (stream: ResponseStream) => void;

/** What a response takes from its request. */
type Echoed = Partial<Pick<EngineRequest<unknown>, "correlationId" | "negotiated" | "requestId">>;

const describe = (
  span: Span,
  { value: { status, error, action_directives: directives = [] } }: Payload,
  request: EngineRequest<unknown> | undefined,
): void => {
  const actionTypes = new Set(directives.map(({ action_type }) => action_type));
  span.set({
    "gen_ai.conversation.id": request?.sessionId,
    "harness.shell.is_replay": request?.isReplay,
    "harness.shell.request.id": request?.requestId,
    "harness.shell.correlation.id": request?.correlationId,
    "harness.shell.status": status,
    "harness.shell.action_types": [...actionTypes].slice(0, 32),
  });
  span.fail(error?.code);
};

/** The engine's side of OpenHarness v1, for any number of shells at once. All functions are bound. */
export class ShellEngine<Context = unknown> {
  readonly #parts: EngineParts<Context>;
  readonly #offer: CapabilityOffer;
  readonly #admit: Admit<Context>;
  readonly #runner: RequestRunner<Context>;
  readonly #onResponse: ((response: ShellResponse) => void) | undefined;
  readonly #open = new Map<Channel<Context>, ChannelServer<unknown>>();
  #isClosed = false;

  /** @internal */
  constructor(options: ShellEngineOptions<Context>) {
    const { clock = systemClock, createId = randomId, onResponse } = options;
    const limits = shellEngineLimits.resolve(options.limits);
    const registry = createActionRegistry(options.actionTypes);
    const onError = (error: unknown) => callSafely(() => options.onError?.(error));
    const key = options.continuationKey ?? crypto.getRandomValues(new Uint8Array(32));
    const store = options.continuations ?? new MemoryContinuationStore(limits, clock);
    this.#onResponse = onResponse && ((response) => callSafely(() => onResponse(response)));
    this.#offer = new CapabilityOffer(registry, options.capabilities ?? {});
    this.#admit = createAdmission(options.authenticate, limits, clock);
    this.#parts = {
      limits,
      clock,
      createId,
      registry,
      router: new Router(options.handlers),
      continuations: new Continuations(key, store, clock, createId, limits),
      failures: new Failures(onError, limits.maxResponseLength, clock),
      write: options.log,
    };
    this.#runner = new RequestRunner(this.#parts);
  }

  /**
   * Takes one parsed message and resolves with the response. A message that is not a request, and whatever else goes wrong,
   * is a response with status error. Never rejects. The response may be shared with others that wait for it: it must not be changed, and
   * the message not before the response is there.
   *
   * @param json the message as it came, where it is at hand: it saves writing it anew, to know a repeated request by
   */
  readonly handle = (message: unknown, context: Context, json = ""): Promise<ShellResponse> =>
    this.#traced(message, context, json);

  /**
   * As `handle`, for a caller that also reads streams (`dev.harnesskit.stream`): resolves with the frames of a stream where the engine offers
   * `openharness.streaming` and the request agrees on it, else with the response. Takes cancellations of streams too, and resolves with
   * undefined. Never rejects.
   */
  readonly handleStream = (message: unknown, context: Context, json = ""): Promise<unknown> => {
    if (!this.#offer.offersStreaming) return this.handle(message, context, json);
    const cancel = parseStreamCancel(message);
    if (cancel) return this.#cancel(cancel, context);
    return new Promise((resolve) => {
      let stream: ResponseStream | undefined;
      const onStream = (opened: ResponseStream) => {
        stream = opened;
        resolve(opened);
      };
      void this.#traced(message, context, json, onStream).then((response) => {
        if (stream) stream.finish(response as never);
        else resolve(response);
      });
    });
  };

  /** Of a stream that is not known, or another's, nothing is said. */
  async #cancel({ stream_id, session_id, auth }: StreamCancel, context: Context): Promise<unknown> {
    try {
      this.#runner.assertOpen();
      const { owner } = await this.#admit(auth, undefined, context);
      this.#runner.cancelStream(stream_id, owner, session_id);
      return undefined;
    } catch (error) {
      return this.#respond(this.#parts.failures.payload(error), undefined);
    }
  }

  #traced(message: unknown, context: Context, json: string, onStream?: OnStream): Promise<ShellResponse> {
    const start = () => ({
      name: "harness.shell.request",
      kind: SpanKind.SERVER,
      metric: "harness.shell.request.duration",
      parent: traceOfMessage(message, context),
    });
    return traced(start, (span) => this.#handle(message, context, json, onStream, span));
  }

  async #handle(
    message: unknown,
    context: Context,
    json: string,
    onStream: OnStream | undefined,
    span?: Span,
  ): Promise<ShellResponse> {
    const { limits, clock, failures } = this.#parts;
    let request: EngineRequest<Context> | undefined;
    let payload: Payload;
    try {
      const { nothingAsked } = this.#offer;
      const startedAt = clock.elapsedMs();
      const { maxIdLength } = limits;
      request = new EngineRequest(message, context, maxIdLength, startedAt, nothingAsked, json, onStream);
      payload = await this.#answer(message, request);
    } catch (error) {
      payload = failures.payload(error, request);
    }
    if (request) this.#write(request, payload);
    if (span) describe(span, payload, request);
    return this.#respond(payload, request);
  }

  async #answer(message: unknown, request: EngineRequest<Context>): Promise<Payload> {
    this.#runner.assertOpen();
    const read = readRequest(message, this.#parts.limits);
    const { auth, context: { shell } = {} } = read.request.request;
    request.accept(read, this.#offer.negotiate(read.request.capabilities));
    if (!request.negotiated.held.has(ShellCapability.Streaming)) request.onStream = undefined;
    const { principal, owner } = await this.#admit(auth, shell, request.context);
    request.principal = principal;
    request.owner = owner;
    return await this.#runner.answer(request);
  }

  #respond(payload: Payload, request: Echoed | undefined): ShellResponse {
    const { requestId, correlationId, negotiated = this.#offer.nothingAsked } = request ?? {};
    const response: ShellResponse = { protocol_version: OPENHARNESS_VERSION, response: payload.value };
    if (requestId !== undefined) response.request_id = requestId;
    if (correlationId !== undefined) response.correlation_id = correlationId;
    response.supported_protocol_versions = supportedVersions;
    response.supported_capabilities = negotiated.supported;
    response.capability_denials = allDenials(negotiated.denials, payload.denials);
    this.#onResponse?.(response);
    return response;
  }

  /** The response to a body that is not JSON: `invalid_request`. */
  readonly malformed = (): ShellResponse => this.#respond(this.#parts.failures.payload(notJson()), undefined);

  /** The response in place of one that cannot be sent: it is too large or too deep. `internal_error`. */
  readonly unsendable = (reply: unknown, error: HarnessError): unknown => {
    if (isStreamFrame(reply)) {
      const frame = reply as StreamFrame;
      return frame.type === "end" ? { ...frame, response: this.unsendable(frame.response, error) } : frame;
    }
    const { maxIdLength } = this.#parts.limits;
    return this.#respond(this.#parts.failures.payload(error), {
      requestId: messageIdOf(reply, "request_id", maxIdLength),
      correlationId: messageIdOf(reply, "correlation_id", maxIdLength),
    });
  };

  /**
   * Headers of the answer, for a server that supports them per route: `X-Correlation-ID` and `X-Request-ID` as the context's
   * `headers` show them. Undefined without headers.
   */
  readonly replyHeaders = (context: Context) => shellReplyHeaders(context);

  /**
   * Serves a shell on a channel that is open and not started. Its requests are handled at the same time, and each response goes
   * out when it is there; `channel.context` is the context. Throws `connection_closed` after `close`.
   */
  readonly connect = (channel: Channel<Context>): void => {
    if (this.#isClosed) throw new ConnectionClosedError("the engine is closed");
    const context = contextOf(channel);
    const server = new ChannelServer<unknown>(channel, {
      receive: (message, respond) => {
        server.note(typeof message === "object" && message !== null);
        void this.handleStream(message, context)
          .then((answer) => lastAnswer(answer, channel))
          .then(respond);
      },
      malformed: this.malformed,
      unsendable: this.unsendable,
      maxPending: this.#parts.limits.maxPendingPerChannel,
      countsUnsent: true,
      onError: this.#parts.failures.onError,
    });
    this.#open.set(channel, server);
    void channel.closed.then(() => this.#open.delete(channel));
    server.start();
  };

  /** Handlers that run, those included that took too long, and requests that are remembered by their ids. */
  readonly stats = () => this.#runner.stats();

  /**
   * Aborts the signals of all handlers and answers their requests with `cancelled`; accepts nothing more. Settles when all
   * channels are closed. Idempotent.
   */
  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    this.#runner.close();
    const channels = [...this.#open.keys()];
    for (const server of this.#open.values()) server.finish();
    await Promise.all(channels.map(({ closed }) => closed));
  };

  readonly [Symbol.asyncDispose] = (): Promise<void> => this.close();

  #write(request: EngineRequest<Context>, { value: { status, error, action_directives } }: Payload): void {
    const { write, clock } = this.#parts;
    if (write === undefined) return;
    writeLog(write, request, {
      event: "request",
      level: status === "error" ? "warn" : "info",
      outcome: status,
      error_code: error?.code,
      duration_ms: clock.elapsedMs() - request.startedAt,
      is_replay: request.isReplay,
      action_types: action_directives?.map(({ action_type }) => action_type),
    });
  }
}

/**
 * Makes an engine that asks `handlers` what shells show and do. It does no I/O: give it channels with `connect`, messages with
 * `handle`, or itself to a server as a route. Throws `invalid_argument` for options that are not valid, and
 * `ActionRegistryError`.
 */
export const createShellEngine = <Context = unknown>(
  options: ShellEngineOptions<Context>,
): ShellEngine<Context> => new ShellEngine(checkShellEngineOptions(options));
