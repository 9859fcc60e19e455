import {
  createActionRegistry,
  OPENHARNESS_VERSION,
  ShellErrorCode,
  type ShellResponse,
  type ShellResponsePayload,
} from "@harnesskit/protocol/openharness";
import { type Clock, type HarnessError, quietly, randomId, systemClock } from "@harnesskit/wire";
import { Admission } from "./admission.ts";
import { CapabilityOffer, type Negotiated, nothingNegotiated } from "./capability-negotiation.ts";
import { MemoryContinuationStore } from "./continuation-store.ts";
import { ContinuationSigner } from "./continuation-token.ts";
import { Continuations } from "./continuations.ts";
import { toShellError } from "./failure.ts";
import { shellReplyHeaders, traceOf } from "./http-trace.ts";
import { type ResolvedLimits, resolveLimits } from "./limits.ts";
import { idOf, readRequest, supportedVersions } from "./read-request.ts";
import { createRedact, redactNothing } from "./redaction.ts";
import { RequestWorks } from "./request-works.ts";
import { Router } from "./routes.ts";
import { ShellEngineError } from "./shell-engine-error.ts";
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
   * response with status error. Never rejects.
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
  readonly gauges: () => ShellEngineGauges;
  /** Ends the signals of all handlers and answers their requests with `cancelled`; takes nothing more. Idempotent. */
  readonly close: () => void;
}

class Engine<Context> implements ShellEngine<Context> {
  readonly #limits: ResolvedLimits;
  readonly #clock: Clock;
  readonly #log: ShellLog;
  readonly #onError: (error: unknown) => void;
  readonly #offer: CapabilityOffer;
  readonly #admission: Admission<Context>;
  readonly #works: RequestWorks<Context>;

  constructor(options: ShellEngineOptions<Context>) {
    const { clock = systemClock, createId = randomId, continuationKey } = options;
    const limits = resolveLimits(options.limits ?? {});
    const registry = createActionRegistry(options.actionTypes);
    this.#limits = limits;
    this.#clock = clock;
    this.#log = new ShellLog(options.log);
    this.#onError = (error) => quietly(() => options.onError?.(error));
    this.#offer = new CapabilityOffer(registry, options.capabilities ?? {});
    this.#admission = new Admission(options.authenticate, limits.authenticateTimeoutMs, clock);
    this.#works = new RequestWorks({
      limits,
      clock,
      createId,
      registry,
      log: this.#log,
      router: new Router(options.handlers),
      continuations: new Continuations({
        signer: new ContinuationSigner(continuationKey ?? crypto.getRandomValues(new Uint8Array(32))),
        store: options.continuations ?? new MemoryContinuationStore(limits, clock),
        clock,
        createId,
      }),
      toFailure: (error, redact) => this.#toFailure(error, redact),
      onError: this.#onError,
    });
  }

  readonly handle = async (message: unknown, context: Context): Promise<ShellResponse> => {
    const startedAt = this.#clock.now();
    const trace = traceOf(context);
    const { maxIdLength } = this.#limits;
    const subject: LogSubject = {
      request: undefined,
      requestId: idOf(message, "request_id", maxIdLength),
      correlationId: idOf(message, "correlation_id", maxIdLength) ?? trace.correlationId,
      trace,
      sessionId: undefined,
      runId: undefined,
      redact: redactNothing,
    };
    let negotiated = nothingNegotiated;
    let payload: ShellResponsePayload;
    let isReplay = false;
    try {
      this.#works.assertOpen();
      const read = readRequest(message, this.#limits);
      const { auth, context: asked = {} } = read.request.request;
      subject.request = read.request;
      subject.redact = createRedact(auth, asked.environment_state);
      negotiated = this.#offer.negotiate(read.request.capabilities);
      const admitted = await this.#admission.admit(auth, asked.shell, context);
      const outcome = await this.#works.answer({
        request: read.request,
        extension: read.extension,
        asked,
        principal: admitted.principal,
        owner: admitted.owner,
        context,
        held: negotiated.held,
        subject,
        startedAt,
      });
      ({ payload, isReplay } = outcome);
    } catch (error) {
      payload = this.#toFailure(error, subject.redact);
    }
    const durationMs = Math.max(0, this.#clock.now() - startedAt);
    if (payload.engine_latency_ms === undefined) payload = { ...payload, engine_latency_ms: durationMs };
    this.#log.write(subject, {
      event: "request",
      level: payload.status === "error" ? "warn" : "info",
      outcome: payload.status,
      error_code: payload.error?.code,
      duration_ms: durationMs,
      is_replay: isReplay,
      action_types: payload.action_directives?.map(({ action_type }) => action_type),
    });
    return this.#respond(payload, subject.requestId, subject.correlationId, negotiated);
  };

  readonly malformed = (): ShellResponse =>
    this.#respond(
      {
        status: "error",
        error: {
          code: ShellErrorCode.InvalidRequest,
          message: "The body is no JSON message.",
          retryable: false,
          details: { reason: "not_json" },
        },
      },
      undefined,
      undefined,
      nothingNegotiated,
    );

  readonly unsendable = (reply: unknown, error: HarnessError): ShellResponse => {
    this.#onError(error);
    const { maxIdLength } = this.#limits;
    return this.#respond(
      this.#toFailure(undefined, redactNothing),
      idOf(reply, "request_id", maxIdLength),
      idOf(reply, "correlation_id", maxIdLength),
      nothingNegotiated,
    );
  };

  readonly replyHeaders = (context: Context) => shellReplyHeaders(context);

  readonly gauges = (): ShellEngineGauges => this.#works.gauges();

  readonly close = (): void => this.#works.close();

  #toFailure(error: unknown, redact: LogSubject["redact"]): ShellResponsePayload {
    if (error !== undefined && !ShellEngineError.isInstance(error)) this.#onError(error);
    return { status: "error", error: toShellError(error, redact) };
  }

  #respond(
    payload: ShellResponsePayload,
    requestId: string | undefined,
    correlationId: string | undefined,
    { denials }: Negotiated,
  ): ShellResponse {
    const response: ShellResponse = { protocol_version: OPENHARNESS_VERSION, response: payload };
    if (requestId !== undefined) response.request_id = requestId;
    if (correlationId !== undefined) response.correlation_id = correlationId;
    response.supported_protocol_versions = supportedVersions;
    response.supported_capabilities = this.#offer.supported;
    response.capability_denials = denials;
    return response;
  }
}

/**
 * Makes an engine that asks `handlers` what shells are to show and do. It does no I/O: give it messages with `handle`, or itself to
 * a server as a route. Throws `invalid_argument` for options under which nothing could work, and `ActionRegistryError`.
 */
export const createShellEngine = <Context = unknown>(
  options: ShellEngineOptions<Context>,
): ShellEngine<Context> => new Engine(options);
