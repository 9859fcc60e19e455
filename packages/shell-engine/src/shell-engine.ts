import {
  createActionRegistry,
  isStreamFrame,
  OPENHARNESS_VERSION,
  ShellCapability,
  type ShellResponse,
} from "@harnesskit/protocol/openharness";
import {
  type Channel,
  type Clock,
  ConnectionClosedError,
  callSafely,
  type HarnessError,
  randomId,
} from "@harnesskit/wire";
import { ChannelServer } from "@harnesskit/wire/rpc";
import { systemClock } from "@harnesskit/wire/time";
import { currentTracer, type TracedOperation } from "@harnesskit/wire/trace";
import { Admission } from "./admission.ts";
import { allDenials, CapabilityOffer, noDenials } from "./capability-negotiation.ts";
import { MemoryContinuationStore } from "./continuation-store.ts";
import { ContinuationSigner } from "./continuation-token.ts";
import { Continuations } from "./continuations.ts";
import { internalError, notJson, shellErrorOf, Thrown } from "./failure.ts";
import type { Payload } from "./finish-reply.ts";
import { shellReplyHeaders, traceOf, traceOfMessage } from "./http-trace.ts";
import { type ShellEngineLimits, shellEngineLimits } from "./limits.ts";
import { checkShellEngineOptions } from "./option-names.ts";
import { messageIdOf, readRequest, supportedVersions } from "./read-request.ts";
import { type Progress, type Recipient, unknownRecipient } from "./recipient.ts";
import { createRedact, type Redact, redactNothing } from "./redaction.ts";
import { RequestRunner } from "./request-runner.ts";
import type { Outcome } from "./request-runner-options.ts";
import { Router } from "./routes.ts";
import { contextOf } from "./shell-context.ts";
import type { ShellEngine, ShellEngineStats } from "./shell-engine-api.ts";
import type { ShellEngineOptions } from "./shell-engine-options.ts";
import { type LogSubject, ShellLog } from "./shell-log.ts";
import type { ResponseStream } from "./streaming/response-stream.ts";
import { tooManyStreams } from "./streaming/stream-control.ts";
import { StreamServer } from "./streaming/stream-server.ts";
import { StreamTable } from "./streaming/stream-table.ts";

type OnStream = (stream: ResponseStream) => void;

class Engine<Context> implements ShellEngine<Context> {
  readonly #limits: ShellEngineLimits;
  readonly #clock: Clock;
  readonly #log: ShellLog;
  readonly #onError: (error: unknown) => void;
  readonly #offer: CapabilityOffer;
  readonly #admission: Admission<Context>;
  readonly #runner: RequestRunner<Context>;
  /** Undefined where streams are not offered. */
  readonly #streams: StreamServer<Context> | undefined;
  readonly #onResponse: ((response: ShellResponse) => void) | undefined;
  readonly #open = new Map<Channel<Context>, ChannelServer<unknown>>();
  #isClosed = false;

  constructor(options: ShellEngineOptions<Context>) {
    const { clock = systemClock, createId = randomId, onResponse } = options;
    const limits = shellEngineLimits.resolve(options.limits);
    const registry = createActionRegistry(options.actionTypes);
    this.#limits = limits;
    this.#clock = clock;
    this.#log = new ShellLog(options.log);
    this.#onError = (error) => callSafely(() => options.onError?.(error));
    this.#onResponse = onResponse && ((response) => callSafely(() => onResponse(response)));
    this.#offer = new CapabilityOffer(registry, options.capabilities ?? {});
    this.#admission = new Admission(options.authenticate, limits, clock);
    const key = options.continuationKey ?? crypto.getRandomValues(new Uint8Array(32));
    const streams = new StreamTable({ limits, clock, createId });
    this.#runner = new RequestRunner({
      limits,
      streams,
      clock,
      createId,
      registry,
      log: this.#log,
      router: new Router(options.handlers),
      continuations: new Continuations({
        signer: new ContinuationSigner(key, limits.maxIdLength),
        store: options.continuations ?? new MemoryContinuationStore(limits, clock),
        clock,
        createId,
      }),
      toFailure: (error, redact, elapsedMs) => this.#toFailure(error, redact, elapsedMs),
      onError: this.#onError,
    });
    if (!this.#offer.offersStreaming) return;
    this.#streams = new StreamServer({
      limits,
      table: streams,
      admission: this.#admission,
      assertOpen: () => this.#runner.assertOpen(),
      answer: (message, asked, onStream) => this.#traced(message, asked, onStream),
      toError: (error) => this.#toFailure(error).value.error ?? internalError(),
    });
  }

  readonly handle = (message: unknown, context: Context): Promise<ShellResponse> =>
    this.#traced(message, context);

  readonly handleStream = (message: unknown, context: Context): Promise<unknown> =>
    this.#streams ? this.#streams.handle(message, context) : this.handle(message, context);

  async #traced(message: unknown, context: Context, onStream?: OnStream): Promise<ShellResponse> {
    const tracer = currentTracer();
    if (tracer === undefined) return this.#handle(message, context, onStream);
    const parent = traceOfMessage(message, context);
    const operation = tracer.start("engineRequest", {}, { parent });
    const response = await operation.run(() => this.#handle(message, context, onStream, operation));
    const { status, error, action_directives: directives } = response.response;
    const { request_id: requestId, correlation_id: correlationId } = response;
    operation.set({ requestId, correlationId, status, code: error?.code });
    operation.set({ actionTypes: directives?.map(({ action_type }) => action_type) });
    operation.end(error);
    return response;
  }

  async #handle(
    message: unknown,
    context: Context,
    onStream: OnStream | undefined,
    operation?: TracedOperation<"engineRequest">,
  ): Promise<ShellResponse> {
    const startedAt = this.#clock.elapsedMs();
    let progress: Progress | undefined;
    let outcome: Outcome;
    try {
      progress = {
        subject: this.#subjectOf(message, context),
        denials: noDenials,
        supported: this.#offer.supported,
        startedAt,
      };
      outcome = await this.#answer(message, context, progress, onStream);
    } catch (error) {
      const elapsedMs = this.#sinceMs(startedAt);
      outcome = { payload: this.#toFailure(error, progress?.subject.redact, elapsedMs), isReplay: false };
    }
    const { payload } = outcome;
    if (!progress) return this.#respond(payload, unknownRecipient);
    const { subject } = progress;
    this.#write(subject, outcome, startedAt);
    operation?.set({ sessionId: subject.sessionId, isReplay: outcome.isReplay });
    const { requestId, correlationId } = subject;
    const { denials, supported } = progress;
    return this.#respond(payload, { requestId, correlationId, denials, supported });
  }

  async #answer(
    message: unknown,
    context: Context,
    progress: Progress,
    onStream: OnStream | undefined,
  ): Promise<Outcome> {
    const { subject, startedAt } = progress;
    this.#runner.assertOpen();
    const { request, extension } = readRequest(message, this.#limits);
    const { auth, context: asked = {} } = request.request;
    subject.request = request;
    subject.redact = createRedact(auth, asked.environment_state, asked.user_intent);
    const { held, denials, supported } = this.#offer.negotiate(request.capabilities);
    Object.assign(progress, { denials, supported });
    const { principal, owner } = await this.#admission.admit(auth, asked.shell, context);
    const toStream = (stream: ResponseStream | undefined) => {
      if (stream) return onStream?.(stream);
      progress.denials = [...denials, { capability: ShellCapability.Streaming, ...tooManyStreams }];
      progress.supported = this.#offer.supported;
    };
    return this.#runner.answer({
      request,
      extension,
      principal,
      owner,
      asked,
      context,
      held,
      subject,
      startedAt,
      onStream: onStream && held.has(ShellCapability.Streaming) ? toStream : undefined,
    });
  }

  #respond(
    { value, denials: needed }: Payload,
    { requestId, correlationId, denials, supported = this.#offer.supported }: Recipient,
  ): ShellResponse {
    const response: ShellResponse = { protocol_version: OPENHARNESS_VERSION, response: value };
    if (requestId !== undefined) response.request_id = requestId;
    if (correlationId !== undefined) response.correlation_id = correlationId;
    response.supported_protocol_versions = supportedVersions;
    response.supported_capabilities = supported;
    response.capability_denials = allDenials(denials, needed);
    this.#onResponse?.(response);
    return response;
  }

  readonly malformed = (): ShellResponse =>
    this.#respond({ value: { status: "error", error: notJson() }, denials: [] }, unknownRecipient);

  readonly unsendable = (reply: unknown, error: HarnessError): unknown => {
    if (isStreamFrame(reply)) {
      const frame = reply as { readonly response?: unknown };
      return {
        ...frame,
        ...(frame.response !== undefined && { response: this.unsendable(frame.response, error) }),
      };
    }
    const { maxIdLength } = this.#limits;
    return this.#respond(this.#toFailure(error), {
      requestId: messageIdOf(reply, "request_id", maxIdLength),
      correlationId: messageIdOf(reply, "correlation_id", maxIdLength),
      denials: unknownRecipient.denials,
    });
  };

  readonly replyHeaders = (context: Context) => shellReplyHeaders(context);

  readonly connect = (channel: Channel<Context>): void => {
    if (this.#isClosed) throw new ConnectionClosedError("the engine is closed");
    const context = contextOf(channel);
    const server = new ChannelServer<unknown>(channel, {
      receive: (message, respond, setIdle) => {
        server.note(typeof message === "object" && message !== null);
        if (this.#streams) void this.#streams.serve(message, context, channel, respond, setIdle);
        else void this.handle(message, context).then((response) => respond(response));
      },
      malformed: this.malformed,
      unsendable: this.unsendable,
      maxPending: this.#limits.maxPendingPerChannel,
      countsUnsent: true,
      onError: this.#onError,
    });
    this.#open.set(channel, server);
    void channel.closed.then(() => this.#open.delete(channel));
    server.start();
  };

  readonly stats = (): ShellEngineStats => this.#runner.stats();

  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    this.#runner.close();
    const channels = [...this.#open.keys()];
    for (const server of this.#open.values()) server.finish();
    await Promise.all(channels.map(({ closed }) => closed));
  };

  readonly [Symbol.asyncDispose] = (): Promise<void> => this.close();

  #subjectOf(message: unknown, context: Context): LogSubject {
    const { maxIdLength } = this.#limits;
    const trace = traceOf(context);
    return {
      request: undefined,
      requestId: messageIdOf(message, "request_id", maxIdLength),
      correlationId: messageIdOf(message, "correlation_id", maxIdLength) ?? trace.correlationId,
      trace,
      sessionId: undefined,
      runId: undefined,
      redact: redactNothing,
    };
  }

  #write(subject: LogSubject, { payload, isReplay }: Outcome, startedAt: number): void {
    if (!this.#log.isOn) return;
    const { status, error, action_directives } = payload.value;
    this.#log.write(subject, {
      event: "request",
      level: status === "error" ? "warn" : "info",
      outcome: status,
      error_code: error?.code,
      duration_ms: this.#sinceMs(startedAt),
      is_replay: isReplay,
      action_types: action_directives?.map(({ action_type }) => action_type),
    });
  }

  #sinceMs(startedAt: number): number {
    return Math.max(0, this.#clock.elapsedMs() - startedAt);
  }

  #toFailure(failure: unknown, redact: Redact = redactNothing, elapsedMs?: number): Payload {
    const own = shellErrorOf(failure, redact, this.#limits.maxResponseLength);
    if (!own) this.#onError(failure instanceof Thrown ? failure.error : failure);
    const latency = elapsedMs === undefined ? {} : { engine_latency_ms: elapsedMs };
    return { value: { status: "error", error: own ?? internalError(), ...latency }, denials: [] };
  }
}

/**
 * Makes an engine that asks `handlers` what shells show and do. It does no I/O: give it channels with `connect`, messages with
 * `handle`, or itself to a server as a route. Throws `invalid_argument` for options that are not valid, and
 * `ActionRegistryError`.
 */
export const createShellEngine = <Context = unknown>(
  options: ShellEngineOptions<Context>,
): ShellEngine<Context> => new Engine(checkShellEngineOptions(options));
