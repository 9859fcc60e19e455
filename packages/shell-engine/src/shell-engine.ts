import {
  type CapabilityDenial,
  createActionRegistry,
  ShellErrorCode,
  type ShellResponse,
} from "@harnesskit/protocol/openharness";
import {
  type Channel,
  type Clock,
  ConnectionClosedError,
  type HarnessError,
  quietly,
  randomId,
  systemClock,
  withSender,
} from "@harnesskit/wire";
import { Admission, type Admitted } from "./admission.ts";
import { CapabilityOffer, nothingNegotiated } from "./capability-negotiation.ts";
import { MemoryContinuationStore } from "./continuation-store.ts";
import { ContinuationSigner } from "./continuation-token.ts";
import { Continuations } from "./continuations.ts";
import { internalError, shellErrorOf } from "./failure.ts";
import { shellReplyHeaders, traceOf } from "./http-trace.ts";
import { type ResolvedLimits, resolveLimits } from "./limits.ts";
import { Payload } from "./payload.ts";
import { idOf, readRequest, supportedVersions } from "./read-request.ts";
import { createRedact, type Redact, redactNothing } from "./redaction.ts";
import { type Outcome, RequestWorks } from "./request-works.ts";
import { type Addressee, Responder } from "./responder.ts";
import { Router } from "./routes.ts";
import type { MaybePromise } from "./shell-call.ts";
import { ShellConnection } from "./shell-connection.ts";
import type { ShellEngineOptions } from "./shell-engine-options.ts";
import { type LogSubject, ShellLog } from "./shell-log.ts";

/** What there is at the moment. */
export interface ShellEngineGauges {
  /** Handlers that run, those among them that took too long. */
  readonly inFlight: number;
  /** Requests that are remembered by their ids. */
  readonly rememberedRequests: number;
}

/** The engine's side of OpenHarness v1, for any number of shells at once. All functions are bound. */
export interface ShellEngine<Context = unknown> {
  /**
   * Takes one message, parsed, and gives the response. A message that is no request, and whatever else goes wrong, is a
   * response with status error. Never rejects. The response is the caller's to change, but for what it says of
   * the engine's versions and capabilities, which all responses share. The message may be changed as soon as this has returned;
   * objects in it whose fields the protocol leaves to the shell may not, until the response is there.
   */
  readonly handle: (message: unknown, context: Context) => Promise<ShellResponse>;
  /** The response to a body that is no JSON: `invalid_request`. */
  readonly malformed: (error: HarnessError) => ShellResponse;
  /** The response in the place of one that cannot be sent: it is too large or too deep. `internal_error`. */
  readonly unsendable: (reply: unknown, error: HarnessError) => ShellResponse;
  /**
   * Headers of the answer, for a server that knows them of a route: `X-Correlation-ID` and `X-Request-ID` as the context's
   * `headers` show them. Undefined where there are none.
   */
  readonly replyHeaders: (context: Context) => Readonly<Record<string, string>> | undefined;
  /**
   * Serves a shell on a channel that is open and not started. Its requests are handled at the same time, and each response goes
   * out when it is there; `channel.context` is the context. Throws `connection_closed` after `close`.
   */
  readonly connect: (channel: Channel<Context>) => void;
  readonly gauges: () => ShellEngineGauges;
  /**
   * Ends the signals of all handlers and answers their requests with `cancelled`; takes nothing more. Settles when all channels
   * are closed. Idempotent.
   */
  readonly close: () => Promise<void>;
}

/** What is known of a message, as far as it was read. */
interface Progress {
  subject: LogSubject | undefined;
  denials: CapabilityDenial[];
  readonly startedAt: number;
}

/** Of a message that could not be read. */
const nobody: Addressee = {
  requestId: undefined,
  correlationId: undefined,
  denials: nothingNegotiated.denials,
};

/** Those of the negotiation, and those of the directives that are not among them. */
const allDenials = (
  negotiated: CapabilityDenial[],
  needed: readonly CapabilityDenial[],
): CapabilityDenial[] => {
  if (needed.length === 0) return negotiated;
  const known = new Set(negotiated.map(({ capability }) => capability));
  return [...negotiated, ...needed.filter(({ capability }) => !known.has(capability))];
};

class Engine<Context> implements ShellEngine<Context> {
  readonly #limits: ResolvedLimits;
  readonly #clock: Clock;
  readonly #log: ShellLog;
  readonly #onError: (error: unknown) => void;
  readonly #offer: CapabilityOffer;
  readonly #admission: Admission<Context>;
  readonly #works: RequestWorks<Context>;
  readonly #responder: Responder;
  readonly #onResponse: ((response: ShellResponse) => void) | undefined;
  readonly #connections = new Set<ShellConnection<Context>>();
  #isClosed = false;

  constructor(options: ShellEngineOptions<Context>) {
    const { clock = systemClock, createId = randomId, continuationKey } = options;
    const limits = resolveLimits(options.limits ?? {});
    const registry = createActionRegistry(options.actionTypes);
    this.#limits = limits;
    this.#clock = clock;
    this.#log = new ShellLog(options.log);
    this.#onError = (error) => quietly(() => options.onError?.(error));
    const { onResponse } = options;
    this.#onResponse = onResponse && ((response) => quietly(() => onResponse(response)));
    this.#offer = new CapabilityOffer(registry, options.capabilities ?? {});
    this.#admission = new Admission(options.authenticate, limits, clock);
    this.#works = new RequestWorks({
      limits,
      clock,
      createId,
      registry,
      log: this.#log,
      router: new Router(options.handlers),
      continuations: new Continuations({
        signer: new ContinuationSigner(
          continuationKey ?? crypto.getRandomValues(new Uint8Array(32)),
          limits.maxIdLength,
        ),
        store: options.continuations ?? new MemoryContinuationStore(limits, clock),
        clock,
        createId,
      }),
      toFailure: (error, redact, elapsedMs) => this.#toFailure(error, redact, elapsedMs),
      onError: this.#onError,
    });
    this.#responder = new Responder(supportedVersions, this.#offer.supported);
  }

  /** A server that has the engine itself asks for what it sends; whoever wraps `handle` gets what they may change. */
  readonly handle = withSender(
    async (message: unknown, context: Context) => this.#handle(message, context, false),
    (message: unknown, context: Context) => this.#handle(message, context, true),
  );

  /** Neither throws nor rejects, while the clock does not: a message or a context that is no plain data may throw wherever it is read. */
  #handle(message: unknown, context: Context, isToSend: boolean): MaybePromise<ShellResponse> {
    const progress: Progress = {
      subject: undefined,
      denials: nothingNegotiated.denials,
      startedAt: this.#clock.now(),
    };
    let outcome: MaybePromise<Outcome>;
    try {
      outcome = this.#answer(message, context, progress);
    } catch (error) {
      outcome = this.#failed(error, progress);
    }
    if (!(outcome instanceof Promise)) return this.#respond(outcome, progress, isToSend);
    return outcome
      .catch((error) => this.#failed(error, progress))
      .then((late) => this.#respond(late, progress, isToSend));
  }

  #answer(message: unknown, context: Context, progress: Progress): MaybePromise<Outcome> {
    const subject = this.#subjectOf(message, context);
    progress.subject = subject;
    this.#works.assertOpen();
    const { request, extension } = readRequest(message, this.#limits);
    const { auth, context: asked = {} } = request.request;
    subject.request = request;
    subject.redact = createRedact(auth, asked.environment_state, asked.user_intent);
    const { held, denials } = this.#offer.negotiate(request.capabilities);
    progress.denials = denials;
    const { startedAt } = progress;
    // Field by field: to spread two objects into one takes V8 longer than all of this.
    const answer = ({ principal, owner }: Admitted) =>
      this.#works.answer({
        request,
        extension,
        asked,
        principal,
        owner,
        context,
        held,
        subject,
        startedAt,
      });
    const admitted = this.#admission.admit(auth, asked.shell, context);
    return admitted instanceof Promise ? admitted.then(answer) : answer(admitted);
  }

  #failed(error: unknown, { subject, startedAt }: Progress): Outcome {
    const payload = this.#toFailure(error, subject?.redact, this.#sinceMs(startedAt));
    return { payload, isReplay: false };
  }

  #respond(outcome: Outcome, { subject, denials, startedAt }: Progress, isToSend: boolean): ShellResponse {
    if (subject) this.#write(subject, outcome, startedAt);
    const { requestId, correlationId } = subject ?? nobody;
    const to = { requestId, correlationId, denials: allDenials(denials, outcome.payload.denials) };
    const response = isToSend
      ? this.#responder.respondToSend(outcome.payload, to)
      : this.#responder.respond(outcome.payload, to);
    this.#onResponse?.(response);
    return response;
  }

  readonly malformed = (): ShellResponse => {
    const message = "The body is no JSON message.";
    const details = { reason: "not_json" };
    const error = { code: ShellErrorCode.InvalidRequest, message, retryable: false, details };
    return this.#responder.respond(Payload.of({ status: "error", error }), nobody);
  };

  readonly unsendable = (reply: unknown, error: HarnessError): ShellResponse => {
    const { maxIdLength } = this.#limits;
    const requestId = idOf(reply, "request_id", maxIdLength);
    const correlationId = idOf(reply, "correlation_id", maxIdLength);
    const { denials } = nobody;
    return this.#responder.respond(this.#toFailure(error), { requestId, correlationId, denials });
  };

  readonly replyHeaders = (context: Context) => shellReplyHeaders(context);

  readonly connect = (channel: Channel<Context>): void => {
    if (this.#isClosed) throw new ConnectionClosedError("the engine is closed");
    const connection = new ShellConnection(channel, {
      handle: async (message, context) => this.#handle(message, context, true),
      malformed: this.malformed,
      unsendable: this.unsendable,
      maxPending: this.#limits.maxPendingPerChannel,
      onError: this.#onError,
    });
    this.#connections.add(connection);
    void channel.closed.then(() => this.#connections.delete(connection));
    connection.start();
  };

  readonly gauges = (): ShellEngineGauges => this.#works.gauges();

  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    this.#works.close();
    await Promise.all([...this.#connections].map((connection) => connection.close()));
  };

  #subjectOf(message: unknown, context: Context): LogSubject {
    const { maxIdLength } = this.#limits;
    const trace = traceOf(context);
    return {
      request: undefined,
      requestId: idOf(message, "request_id", maxIdLength),
      correlationId: idOf(message, "correlation_id", maxIdLength) ?? trace.correlationId,
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
    return Math.max(0, this.#clock.now() - startedAt);
  }

  #toFailure(error: unknown, redact: Redact = redactNothing, elapsedMs?: number): Payload {
    const own = shellErrorOf(error, redact, this.#limits.maxResponseLength);
    if (!own) this.#onError(error);
    return Payload.of({
      status: "error",
      error: own ?? internalError(),
      ...(elapsedMs !== undefined && { engine_latency_ms: elapsedMs }),
    });
  }
}

/**
 * Makes an engine that asks `handlers` what shells are to show and do. It does no I/O: give it channels
 * with `connect`, messages with `handle`, or itself to a server as a route. Throws `invalid_argument` for options under which nothing could work, and `ActionRegistryError`.
 */
export const createShellEngine = <Context = unknown>(
  options: ShellEngineOptions<Context>,
): ShellEngine<Context> => new Engine(options);
