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
import { type Span, SpanKind, startSpan } from "@harnesskit/wire/trace";
import { Admission } from "./admission.ts";
import { allDenials, CapabilityOffer } from "./capability-offer.ts";
import { MemoryContinuationStore } from "./continuation-store.ts";
import { ContinuationSigner } from "./continuation-token.ts";
import { Continuations } from "./continuations.ts";
import type { EngineParts } from "./engine-parts.ts";
import { Failures, notJson } from "./failure.ts";
import { shellReplyHeaders, traceOf, traceOfMessage } from "./http-trace.ts";
import type { Subject } from "./inbound.ts";
import { shellEngineLimits } from "./limits.ts";
import { checkShellEngineOptions } from "./option-names.ts";
import { messageIdOf, readRequest, supportedVersions } from "./read-request.ts";
import { createRedact, redactNothing } from "./redaction.ts";
import { type Outcome, RequestRunner } from "./request-runner.ts";
import { Router } from "./routes.ts";
import { contextOf } from "./shell-context.ts";
import type { ShellEngine, ShellEngineStats } from "./shell-engine-api.ts";
import type { ShellEngineOptions } from "./shell-engine-options.ts";
import { writeLog } from "./shell-log.ts";
import { lastAnswer } from "./streaming/last-answer.ts";
import type { ResponseStream } from "./streaming/response-stream.ts";
import type { Payload } from "./to-payload.ts";

type OnStream = (stream: ResponseStream) => void;

class Engine<Context> implements ShellEngine<Context> {
  readonly #parts: EngineParts<Context>;
  readonly #offer: CapabilityOffer;
  readonly #admission: Admission<Context>;
  readonly #runner: RequestRunner<Context>;
  readonly #onResponse: ((response: ShellResponse) => void) | undefined;
  readonly #open = new Map<Channel<Context>, ChannelServer<unknown>>();
  #isClosed = false;

  constructor(options: ShellEngineOptions<Context>) {
    const { clock = systemClock, createId = randomId, onResponse } = options;
    const limits = shellEngineLimits.resolve(options.limits);
    const registry = createActionRegistry(options.actionTypes);
    const onError = (error: unknown) => callSafely(() => options.onError?.(error));
    const key = options.continuationKey ?? crypto.getRandomValues(new Uint8Array(32));
    const signer = new ContinuationSigner(key, limits.maxIdLength);
    const store = options.continuations ?? new MemoryContinuationStore(limits, clock);
    this.#onResponse = onResponse && ((response) => callSafely(() => onResponse(response)));
    this.#offer = new CapabilityOffer(registry, options.capabilities ?? {});
    this.#admission = new Admission(options.authenticate, limits, clock);
    this.#parts = {
      limits,
      clock,
      createId,
      registry,
      router: new Router(options.handlers),
      continuations: new Continuations({ signer, store, clock, createId }),
      failures: new Failures(onError, limits.maxResponseLength, clock),
      write: options.log,
    };
    this.#runner = new RequestRunner(this.#parts);
  }

  readonly handle = (message: unknown, context: Context): Promise<ShellResponse> =>
    this.#traced(message, context);

  readonly handleStream = (message: unknown, context: Context): Promise<unknown> => {
    if (!this.#offer.offersStreaming) return this.handle(message, context);
    const cancel = parseStreamCancel(message);
    if (cancel) return this.#cancel(cancel, context);
    return new Promise((resolve) => {
      let stream: ResponseStream | undefined;
      const onStream = (opened: ResponseStream) => {
        stream = opened;
        resolve(opened);
      };
      void this.#traced(message, context, onStream).then((response) => {
        if (stream) stream.finish(response as never);
        else resolve(response);
      });
    });
  };

  /** Of a stream that is not known, or another's, nothing is said. */
  async #cancel({ stream_id, session_id, auth }: StreamCancel, context: Context): Promise<unknown> {
    try {
      this.#runner.assertOpen();
      const { owner } = await this.#admission.admit(auth, undefined, context);
      this.#runner.cancelStream(stream_id, owner, session_id);
      return undefined;
    } catch (error) {
      return this.#respond(this.#parts.failures.payload(error), undefined);
    }
  }

  #traced(message: unknown, context: Context, onStream?: OnStream): Promise<ShellResponse> {
    const span = startSpan(() => ({
      name: "harness.shell.request",
      kind: SpanKind.SERVER,
      metric: "harness.shell.request.duration",
      parent: traceOfMessage(message, context),
    }));
    if (span === undefined) return this.#handle(message, context, onStream);
    return this.#inSpan(span, () => this.#handle(message, context, onStream, span));
  }

  async #inSpan(span: Span, handle: () => Promise<ShellResponse>): Promise<ShellResponse> {
    const response = await span.run(handle);
    const { status, error, action_directives: directives = [] } = response.response;
    const actionTypes = new Set(directives.map(({ action_type }) => action_type));
    span.set({
      "harness.shell.request.id": response.request_id,
      "harness.shell.correlation.id": response.correlation_id,
      "harness.shell.status": status,
      "harness.shell.action_types": [...actionTypes].slice(0, 32),
    });
    span.end(error);
    return response;
  }

  async #handle(
    message: unknown,
    context: Context,
    onStream: OnStream | undefined,
    span?: Span,
  ): Promise<ShellResponse> {
    let subject: Subject | undefined;
    let outcome: Outcome;
    try {
      subject = this.#subjectOf(message, context);
      outcome = await this.#answer(message, context, subject, onStream);
    } catch (error) {
      outcome = { payload: this.#parts.failures.payload(error, subject), isReplay: false };
    }
    if (subject) {
      this.#write(subject, outcome);
      span?.set({
        "gen_ai.conversation.id": subject.sessionId,
        "harness.shell.is_replay": outcome.isReplay,
      });
    }
    return this.#respond(outcome.payload, subject);
  }

  async #answer(
    message: unknown,
    context: Context,
    subject: Subject,
    onStream: OnStream | undefined,
  ): Promise<Outcome> {
    this.#runner.assertOpen();
    const { request, extension } = readRequest(message, this.#parts.limits);
    const { auth, context: asked = {} } = request.request;
    subject.request = request;
    subject.redact = createRedact(auth, asked.environment_state, asked.user_intent);
    subject.negotiated = this.#offer.negotiate(request.capabilities);
    const { principal, owner } = await this.#admission.admit(auth, asked.shell, context);
    const canStream = subject.negotiated.held.has(ShellCapability.Streaming);
    return await this.#runner.answer({
      request,
      extension,
      principal,
      owner,
      asked,
      context,
      subject,
      onStream: canStream ? onStream : undefined,
    });
  }

  #respond(payload: Payload, subject: Partial<Subject> | undefined): ShellResponse {
    const { requestId, correlationId, negotiated = this.#offer.nothingAsked } = subject ?? {};
    const response: ShellResponse = { protocol_version: OPENHARNESS_VERSION, response: payload.value };
    if (requestId !== undefined) response.request_id = requestId;
    if (correlationId !== undefined) response.correlation_id = correlationId;
    response.supported_protocol_versions = supportedVersions;
    response.supported_capabilities = negotiated.supported;
    response.capability_denials = allDenials(negotiated.denials, payload.denials);
    this.#onResponse?.(response);
    return response;
  }

  readonly malformed = (): ShellResponse =>
    this.#respond({ value: { status: "error", error: notJson() }, denials: [] }, undefined);

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

  readonly replyHeaders = (context: Context) => shellReplyHeaders(context);

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

  readonly stats = (): ShellEngineStats => this.#runner.stats();

  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    this.#runner.close();
    const channels = [...this.#open.keys()];
    for (const server of this.#open.values()) server.finish();
    await Promise.all(channels.map(({ closed }) => closed));
  };

  readonly [Symbol.asyncDispose] = (): Promise<void> => this.close();

  #subjectOf(message: unknown, context: Context): Subject {
    const { maxIdLength } = this.#parts.limits;
    const trace = traceOf(context);
    return {
      startedAt: this.#parts.clock.elapsedMs(),
      negotiated: this.#offer.nothingAsked,
      request: undefined,
      requestId: messageIdOf(message, "request_id", maxIdLength),
      correlationId: messageIdOf(message, "correlation_id", maxIdLength) ?? trace.correlationId,
      trace,
      sessionId: undefined,
      runId: undefined,
      redact: redactNothing,
    };
  }

  #write(subject: Subject, { payload, isReplay }: Outcome): void {
    const { write, clock } = this.#parts;
    if (write === undefined) return;
    const { status, error, action_directives } = payload.value;
    writeLog(write, subject, {
      event: "request",
      level: status === "error" ? "warn" : "info",
      outcome: status,
      error_code: error?.code,
      duration_ms: clock.elapsedMs() - subject.startedAt,
      is_replay: isReplay,
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
): ShellEngine<Context> => new Engine(checkShellEngineOptions(options));
