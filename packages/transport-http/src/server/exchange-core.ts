import {
  type Clock,
  callSafely,
  createMessageCodec,
  HarnessError,
  InvalidArgumentError,
  type InvalidMessageError,
  isMessageStream,
  isThenable,
  type MessageCodec,
  type MessageStream,
  systemClock,
} from "@harnesskit/wire";
import { settleWithin } from "@harnesskit/wire/time";
import { assertPath } from "../check-options.ts";
import { isJsonType, toContentLength } from "../read-body.ts";
import { bodyWasRead, commonHeaders, jsonHeaders, refuse, refuseWith, unauthorized } from "./answers.ts";
import {
  type Authentication,
  isAdmission,
  RequestToJudge,
  type ShownCredential,
  shownCredential,
} from "./authenticate.ts";
import {
  checkedContextHeaders,
  defaultContextHeaders,
  ExchangeContext,
  type HttpContext,
  type HttpExchangeContext,
  toContext,
} from "./context.ts";
import { acceptsEvents, EventText, eventHeaders } from "./event-stream.ts";
import type { CoreSetup, ExchangeRoute, HandlerOptions } from "./handler-options.ts";
import { createHealthRules, type HealthRules } from "./health.ts";
import { sendableHeaders } from "./reply-headers.ts";
import type { Answer, BodyProblem, RequestView } from "./request-view.ts";
import { createSiteGuard, type SiteGuard } from "./site-rules.ts";

/** The principal, or the refusal. */
export type Admission<Principal> = { readonly principal: Principal } | Answer;

const problemStatus = { too_large: 413, too_slow: 408, gone: 400 } as const;

const toAdmission = <Principal>(
  found: Authentication<Principal>,
  credential: ShownCredential | undefined,
): Admission<Principal> => {
  if (isAdmission(found)) return found;
  return found.refused === "forbidden" ? refuseWith(403) : unauthorized(credential !== undefined);
};

/** The rules of a server, from a request to its answer. Has no I/O of its own. */
export class ExchangeCore<Principal> {
  readonly guard: SiteGuard;
  readonly #options: HandlerOptions;
  readonly #setup: CoreSetup<Principal>;
  readonly #routes: ReadonlyMap<string, ExchangeRoute<Principal>>;
  readonly #health: HealthRules;
  readonly #contextHeaders: readonly string[];
  readonly #clock: Clock;
  readonly #codec: MessageCodec;
  #inFlight = 0;

  /** Throws `invalid_argument`. */
  constructor(options: HandlerOptions, setup: CoreSetup<Principal>) {
    const { routes, authenticate, allowedHosts, allowHostOrigins = false, limits } = setup;
    for (const path of Object.keys(routes)) assertPath(path);
    if (typeof authenticate !== "function") throw new InvalidArgumentError("authenticate is a function");
    const { allowedOrigins = [], contextHeaders = defaultContextHeaders } = options;
    this.guard = createSiteGuard({ allowedHosts, allowedOrigins, allowHostOrigins });
    this.#options = options;
    this.#setup = setup;
    this.#routes = new Map(Object.entries(routes));
    this.#health = createHealthRules(options.health);
    this.#contextHeaders = checkedContextHeaders(contextHeaders);
    this.#clock = options.clock ?? systemClock;
    this.#codec = createMessageCodec({ maxFrameBytes: limits.maxBodyBytes, maxDepth: limits.maxDepth });
  }

  /** How many messages are being read or handled. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Answers one request. Never rejects. */
  async answer(request: RequestView): Promise<Answer> {
    try {
      const answer = await this.#answer(request);
      this.refused(request, answer, "http");
      return this.finish(request, answer);
    } catch (error) {
      this.tell(error, request, "http");
      return this.finish(request, refuseWith(500));
    }
  }

  /** Adds the headers that every answer has. */
  finish(request: RequestView, answer: Answer): Answer {
    const headers = { ...answer.headers, ...commonHeaders, ...this.guard.corsHeaders(request) };
    return { ...answer, headers };
  }

  /** Reports an answer to `onRefused`, if it refuses a host, an origin or credentials. */
  refused(request: RequestView, { status }: Answer, transport: "http" | "websocket"): void {
    if (status !== 401 && status !== 403) return;
    const { path, remoteAddress, authority: host } = request;
    const origin = request.header("origin");
    callSafely(() => this.#options.onRefused?.({ status, transport, path, remoteAddress, host, origin }));
  }

  /** Reports a failure to `onError`. */
  tell(error: unknown, request: RequestView, transport: "http" | "websocket"): void {
    callSafely(() => this.#options.onError?.(error, { path: request.path ?? "", transport }));
  }

  /** The answer to a request whose body could not be read. */
  unread(request: RequestView, problem: BodyProblem): Answer {
    if (problem !== "read_before") return refuseWith(problemStatus[problem]);
    this.tell(new InvalidArgumentError(bodyWasRead), request, "http");
    return refuse(500, bodyWasRead);
  }

  /** Calls `authenticate`. Returns the principal, or the refusal. */
  async admit(
    request: RequestView,
    transport: "http" | "websocket",
    acceptQuery: boolean,
  ): Promise<Admission<Principal>> {
    const { authenticate, limits } = this.#setup;
    const credential = shownCredential(request, acceptQuery);
    const asked = authenticate(new RequestToJudge(request, transport, credential));
    if (!isThenable(asked)) return toAdmission(asked, credential);
    const waiting = {
      name: "authenticate",
      timeoutMs: limits.bodyTimeoutMs,
      clock: this.#clock,
      holdsProcess: false,
    };
    const settled = await settleWithin(Promise.resolve(asked), waiting);
    if (settled.status === "timed_out") {
      this.tell(settled.error, request, transport);
      return refuseWith(503, { "retry-after": "1" });
    }
    if (settled.status !== "done") throw settled.error;
    return toAdmission(settled.value, credential);
  }

  /** What is known about the sender of a request that was admitted. */
  contextOf(
    request: RequestView,
    path: string,
    admitted: { readonly principal: Principal },
  ): Omit<HttpContext<Principal>, "transport"> {
    return toContext(request, path, admitted, this.#contextHeaders);
  }

  async #answer(request: RequestView): Promise<Answer> {
    const { guard } = this;
    const { limits } = this.#setup;
    const refused = guard.check(request);
    if (refused) return refused;
    const { path } = request;
    if (path === undefined) return refuseWith(400);
    const healthy = this.#health.answer(request);
    if (healthy !== undefined) return healthy;
    const route = this.#routes.get(path);
    if (!route) return refuseWith(404);
    const preflight = guard.preflight(request);
    if (preflight) return preflight;
    if (request.method !== "POST") return refuseWith(405, { allow: "POST" });
    const admitted = await this.admit(request, "http", false);
    if (!("principal" in admitted)) return admitted;
    if (this.#inFlight >= limits.maxInFlight) return refuseWith(503, { "retry-after": "1" });
    const encoding = request.header("content-encoding");
    if (!isJsonType(request.header("content-type"))) return refuseWith(415, { accept: "application/json" });
    if (encoding !== undefined && encoding.toLowerCase() !== "identity") return refuseWith(415);
    if ((toContentLength(request.header("content-length")) ?? 0) > limits.maxBodyBytes)
      return refuseWith(413);
    this.#inFlight++;
    let isStream = false;
    try {
      const context = new ExchangeContext(request, this.contextOf(request, path, admitted));
      const answer = await this.#exchange(request, route, context);
      isStream = answer.stream !== undefined;
      return answer;
    } finally {
      // A stream is in flight until its end.
      if (!isStream) this.#inFlight--;
    }
  }

  async #exchange(
    request: RequestView,
    route: ExchangeRoute<Principal>,
    context: HttpExchangeContext<Principal>,
  ): Promise<Answer> {
    const { maxBodyBytes: maxBytes, bodyTimeoutMs: timeoutMs } = this.#setup.limits;
    const body = await request.readBody({ maxBytes, timeoutMs, clock: this.#clock });
    if ("problem" in body) return this.unread(request, body.problem);
    let message: unknown;
    try {
      message = this.#codec.decode(body.bytes);
    } catch (error) {
      if (!HarnessError.isInstance(error) || error.code !== "invalid_message") throw error;
      const reply: unknown = await route.malformed?.(error as InvalidMessageError, context);
      return reply === undefined ? refuseWith(400) : this.#reply(reply, route, context, request);
    }
    const { handleStream } = route;
    const takesStream = handleStream !== undefined && acceptsEvents(request.header("accept"));
    const answer = await (takesStream ? handleStream(message, context) : route.handle(message, context));
    if (isMessageStream(answer)) return this.#stream(answer, route, context, request);
    return this.#reply(answer, route, context, request);
  }

  #stream(
    messages: MessageStream,
    route: ExchangeRoute<Principal>,
    context: HttpExchangeContext<Principal>,
    request: RequestView,
  ): Answer {
    const headers = { ...this.#replyHeaders(route, context, request), ...eventHeaders };
    const stream = new EventText(messages, {
      encode: (message) => this.#encode(message, route),
      pingMs: this.#setup.limits.streamPingMs,
      clock: this.#clock,
      onEnd: () => this.#inFlight--,
    });
    return { status: 200, headers, stream };
  }

  #reply(
    reply: unknown,
    route: ExchangeRoute<Principal>,
    context: HttpExchangeContext<Principal>,
    request: RequestView,
  ): Answer {
    const own = this.#replyHeaders(route, context, request);
    if (reply === undefined) return { status: 204, headers: own };
    return { status: 200, headers: { ...own, ...jsonHeaders }, body: this.#encode(reply, route) };
  }

  /** Never throws: the message was handled, and its reply must be sent. */
  #replyHeaders(
    route: ExchangeRoute<Principal>,
    context: HttpExchangeContext<Principal>,
    request: RequestView,
  ): Readonly<Record<string, string>> {
    const tell = (error: unknown) => this.tell(error, request, "http");
    try {
      return sendableHeaders(route.replyHeaders?.(context), tell);
    } catch (error) {
      tell(error);
      return {};
    }
  }

  #encode(reply: unknown, { unsendable }: ExchangeRoute<Principal>): string {
    try {
      return this.#codec.encode(reply);
    } catch (error) {
      if (!HarnessError.isInstance(error) || !unsendable) throw error;
      return this.#codec.encode(unsendable(reply, error));
    }
  }
}
