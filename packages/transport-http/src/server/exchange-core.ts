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
import type { HandlerLimits } from "../limits.ts";
import { isJsonType, toContentLength } from "../read-body.ts";
import {
  bodyWasRead,
  busy,
  commonHeaders,
  jsonHeaders,
  plainText,
  refuseWith,
  unauthorized,
} from "./answers.ts";
import { type Authenticate, isAdmission, RequestToJudge, shownCredential } from "./authenticate.ts";
import { checkedContextHeaders, type HttpExchangeContext, RequestContext } from "./context.ts";
import { acceptsEvents, EventText, eventHeaders } from "./event-stream.ts";
import type { ExchangeRoute, HandlerOptions } from "./handler-options.ts";
import type { Answer, BodyProblem, RequestView } from "./request-view.ts";
import { assertPath, createSiteGuard, type SiteGuard, type SiteRules } from "./site-rules.ts";

/** Answers 200, without credentials, while messages are taken. */
const healthPath = "/healthz";

/** What a server makes its rules of. */
export interface CoreOptions<Principal>
  extends Omit<HandlerOptions, "limits">,
    Pick<SiteRules, "allowedHosts" | "allowHostOrigins"> {
  readonly routes: Readonly<Record<string, ExchangeRoute<Principal>>>;
  readonly authenticate: Authenticate<Principal>;
  readonly limits: HandlerLimits;
}

const problemStatus = { too_large: 413, too_slow: 408, gone: 400 } as const;

const namePattern = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
/** Visible ASCII, with spaces between: nothing that would end the header or be read differently by others. */
const valuePattern = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** The rules of a server, from a request to its answer. Has no I/O of its own. */
export class ExchangeCore<Principal> {
  guard: SiteGuard;
  readonly #options: CoreOptions<Principal>;
  readonly #routes: ReadonlyMap<string, ExchangeRoute<Principal>>;
  readonly #contextHeaders: readonly string[];
  readonly #clock: Clock;
  readonly #codec: MessageCodec;
  #inFlight = 0;

  /** Throws `invalid_argument`. */
  constructor(options: CoreOptions<Principal>) {
    const { routes, authenticate, limits } = options;
    for (const path of Object.keys(routes)) assertPath(path);
    if (typeof authenticate !== "function") throw new InvalidArgumentError("authenticate is a function");
    this.guard = createSiteGuard({ ...options, allowedOrigins: options.allowedOrigins ?? [] });
    this.#options = options;
    this.#routes = new Map(Object.entries(routes));
    this.#contextHeaders = checkedContextHeaders(options.contextHeaders);
    this.#clock = options.clock ?? systemClock;
    this.#codec = createMessageCodec({ maxFrameBytes: limits.maxBodyBytes, maxDepth: limits.maxDepth });
  }

  /** How many messages are being read or handled. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Whether the server answers at this path by itself. */
  isOwn(path: string): boolean {
    return path === healthPath || this.#routes.has(path);
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

  /** Calls `authenticate`. Returns the context of a request that is admitted, or the refusal. */
  async admit<Transport extends "http" | "websocket">(
    request: RequestView,
    transport: Transport,
  ): Promise<RequestContext<Principal, Transport> | Answer> {
    const { authenticate, limits } = this.#options;
    const credential = shownCredential(request, transport === "websocket");
    let found = authenticate(new RequestToJudge(request, transport, credential));
    if (isThenable(found)) {
      const settled = await settleWithin(found, {
        name: "authenticate",
        timeoutMs: limits.bodyTimeoutMs,
        clock: this.#clock,
        holdsProcess: false,
      });
      if (settled.status === "timed_out") {
        this.tell(settled.error, request, transport);
        return busy();
      }
      if (settled.status !== "done") throw settled.error;
      found = settled.value;
    }
    if (isAdmission(found))
      return new RequestContext(request, transport, found.principal, this.#contextHeaders);
    return found.refused === "forbidden" ? refuseWith(403) : unauthorized(credential !== undefined);
  }

  /** The message of a request and its JSON, or the refusal; where it is not a message, what `onInvalid` returns. */
  async readMessage(
    request: RequestView,
    onInvalid: (error: InvalidMessageError) => Answer | Promise<Answer>,
  ): Promise<{ readonly message: unknown; readonly json: string } | Answer> {
    const { maxBodyBytes: maxBytes, bodyTimeoutMs: timeoutMs } = this.#options.limits;
    const encoding = request.header("content-encoding");
    if (!isJsonType(request.header("content-type"))) return refuseWith(415, { accept: "application/json" });
    if (encoding !== undefined && encoding.toLowerCase() !== "identity") return refuseWith(415);
    if ((toContentLength(request.header("content-length")) ?? 0) > maxBytes) return refuseWith(413);
    const body = await request.readBody({ maxBytes, timeoutMs, clock: this.#clock });
    if ("problem" in body) return this.#unread(request, body.problem);
    try {
      const json = this.#codec.toText(body.bytes);
      return { message: this.#codec.parse(json), json };
    } catch (error) {
      if (!HarnessError.isInstance(error) || error.code !== "invalid_message") throw error;
      return onInvalid(error as InvalidMessageError);
    }
  }

  /** Runs one request. A stream is in flight until its end. Refuses with 503 what is over the limit. */
  async inPlace(run: (leave: () => void) => Promise<Answer>): Promise<Answer> {
    if (this.#inFlight >= this.#options.limits.maxInFlight) return busy();
    this.#inFlight++;
    const leave = () => void this.#inFlight--;
    let isStream = false;
    try {
      const answer = await run(leave);
      isStream = answer.stream !== undefined;
      return answer;
    } finally {
      if (!isStream) leave();
    }
  }

  /** An answer of server-sent events, to be sent with `eventHeaders`. `leave` is that of `inPlace`. */
  eventText(messages: MessageStream, encode: (message: unknown) => string, leave: () => void): EventText {
    const { streamPingMs: pingMs } = this.#options.limits;
    return new EventText(messages, { encode, pingMs, clock: this.#clock, onEnd: leave });
  }

  async #answer(request: RequestView): Promise<Answer> {
    const { guard } = this;
    const refused = guard.check(request);
    if (refused) return refused;
    const { path, method } = request;
    if (path === undefined) return refuseWith(400);
    if (path === healthPath && (method === "GET" || method === "HEAD")) return plainText(200, "ok");
    const route = this.#routes.get(path);
    if (!route) return path === healthPath ? refuseWith(405, { allow: "GET, HEAD" }) : refuseWith(404);
    const preflight = guard.preflight(request);
    if (preflight) return preflight;
    if (method !== "POST") return refuseWith(405, { allow: "POST" });
    const context = await this.admit(request, "http");
    if ("status" in context) return context;
    return this.inPlace((leave) => this.#exchange(request, route, context, leave));
  }

  async #exchange(
    request: RequestView,
    route: ExchangeRoute<Principal>,
    context: HttpExchangeContext<Principal>,
    leave: () => void,
  ): Promise<Answer> {
    const read = await this.readMessage(request, async (error) => {
      const reply: unknown = await route.malformed?.(error, context);
      return reply === undefined ? refuseWith(400) : this.#reply(reply, route, context, request);
    });
    if ("status" in read) return read;
    const { message, json } = read;
    const { handleStream } = route;
    const takesStream = handleStream !== undefined && acceptsEvents(request.header("accept"));
    const answer = await (takesStream
      ? handleStream(message, context, json)
      : route.handle(message, context, json));
    if (!isMessageStream(answer)) return this.#reply(answer, route, context, request);
    const headers = { ...this.#replyHeaders(route, context, request), ...eventHeaders };
    const stream = this.eventText(answer, (each) => this.#encode(each, route), leave);
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

  /** The headers that can be sent. Never throws: the message was handled, and its reply must be sent. */
  #replyHeaders(
    route: ExchangeRoute<Principal>,
    context: HttpExchangeContext<Principal>,
    request: RequestView,
  ): Readonly<Record<string, string>> {
    const kept: Record<string, string> = {};
    try {
      const given = route.replyHeaders?.(context);
      for (const name in given) {
        const lower = name.toLowerCase();
        const value: unknown = given[name];
        if (namePattern.test(lower) && typeof value === "string" && valuePattern.test(value))
          kept[lower] = value;
        else
          this.tell(
            new HarnessError("invalid_reply_header", "a reply's header must be a token and visible ASCII"),
            request,
            "http",
          );
      }
    } catch (error) {
      this.tell(error, request, "http");
    }
    return kept;
  }

  /** The answer to a request whose body could not be read. */
  #unread(request: RequestView, problem: BodyProblem): Answer {
    if (problem !== "read_before") return refuseWith(problemStatus[problem]);
    this.tell(new InvalidArgumentError(bodyWasRead), request, "http");
    return plainText(500, bodyWasRead);
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
