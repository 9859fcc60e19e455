import {
  type Clock,
  createMessageCodec,
  HarnessError,
  type InvalidMessageError,
  isThenable,
  type MessageCodec,
  quietly,
  RequestTimeoutError,
  senderOf,
} from "@harnesskit/wire";
import { isJsonType, toContentLength } from "../read-body.ts";
import { commonHeaders, jsonHeaders, refusal, unauthorized } from "./answers.ts";
import { type Authenticate, type Authentication, isAdmission } from "./authenticate.ts";
import type { HttpExchangeContext } from "./context.ts";
import { ExchangeContext, ShownRequest } from "./exchange-context.ts";
import type { HealthRules } from "./health.ts";
import { inTime, tooLate } from "./in-time.ts";
import { checkedReplyHeaders } from "./reply-headers.ts";
import type { Answer, RequestView } from "./request-view.ts";
import { noHeaders, type SiteGuard } from "./site-rules.ts";

/** What answers the messages that are posted to one path. */
export interface ExchangeRoute<Principal> {
  /** A core's function: the reply, or undefined where the message wants none. */
  readonly handle: (message: unknown, context: HttpExchangeContext<Principal>) => Promise<unknown>;
  /**
   * The reply to a body that is no message (`invalid_message`), for a protocol that has one; it goes out with 200.
   * @default status 400
   */
  readonly malformed?: (error: InvalidMessageError, context: HttpExchangeContext<Principal>) => unknown;
  /**
   * The reply in place of one that cannot be sent: it is larger or deeper than a message may be, or no JSON.
   * @default status 500
   */
  readonly unsendable?: (reply: unknown, error: HarnessError) => unknown;
  /**
   * Headers of the answer to a message, beside the server's own: 16 at most, of visible ASCII. Those that cannot be sent are left
   * out, and `onError` is told `invalid_reply_header`; as it is of what this throws. @default none
   */
  readonly replyHeaders?: (
    context: HttpExchangeContext<Principal>,
  ) => Readonly<Record<string, string>> | undefined;
}

/** Where a failure is told that the client learns no more of than a 500. */
export type OnServerError = (
  error: unknown,
  request: { readonly path: string; readonly transport: string },
) => void;

export interface ExchangeCoreOptions<Principal> {
  readonly routes: ReadonlyMap<string, ExchangeRoute<Principal>>;
  readonly guard: SiteGuard;
  readonly health: HealthRules;
  readonly authenticate: Authenticate<Principal>;
  readonly contextHeaders: readonly string[];
  readonly maxBodyBytes: number;
  readonly maxDepth: number;
  readonly bodyTimeoutMs: number;
  readonly maxInFlight: number;
  readonly clock: Clock;
  readonly onError: OnServerError | undefined;
}

/** Of nearly every answer. */
const plainHeaders = { ...commonHeaders, ...jsonHeaders };

/** Who it is, or the refusal. */
export type Admission<Principal> = { readonly principal: Principal } | Answer;

const admissionOf = <Principal>(found: Authentication<Principal>): Admission<Principal> => {
  if (isAdmission(found)) return found;
  return found.refused === "forbidden" ? refusal(403) : unauthorized();
};

/** The rules of a server, from a request to its answer, without any I/O of their own. */
export class ExchangeCore<Principal> {
  readonly #options: ExchangeCoreOptions<Principal>;
  readonly #codec: MessageCodec;
  #inFlight = 0;

  constructor(options: ExchangeCoreOptions<Principal>) {
    this.#options = options;
    this.#codec = createMessageCodec({ maxFrameBytes: options.maxBodyBytes, maxDepth: options.maxDepth });
  }

  /** Messages that are being read or handled. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** How many more may be. */
  get room(): number {
    return this.#options.maxInFlight - this.#inFlight;
  }

  /** Answers one request. Never rejects. */
  async answer(request: RequestView): Promise<Answer> {
    let answer: Answer;
    try {
      answer = await this.#answer(request);
    } catch (error) {
      this.tell(error, request, "http");
      answer = refusal(500);
    }
    return this.finish(request, answer);
  }

  /** The headers of every answer added. */
  finish(request: RequestView, answer: Answer): Answer {
    const cors = this.#options.guard.corsHeaders(request);
    const { status, headers, own, body } = answer;
    const isPlain = cors === noHeaders && headers === jsonHeaders;
    return { status, headers: isPlain ? plainHeaders : { ...commonHeaders, ...cors, ...headers }, own, body };
  }

  /** Hands a failure over to `onError`. */
  tell(error: unknown, request: RequestView, transport: "http" | "websocket"): void {
    quietly(() => this.#options.onError?.(error, { path: request.path ?? "", transport }));
  }

  /** Asks `authenticate`. Gives the principal, or the refusal; at once where `authenticate` answers at once. */
  admit(
    request: RequestView,
    transport: "http" | "websocket",
    acceptQuery: boolean,
  ): Admission<Principal> | Promise<Admission<Principal>> {
    const { authenticate, bodyTimeoutMs, clock } = this.#options;
    const asked = authenticate(new ShownRequest(request, transport, acceptQuery));
    if (!isThenable<Authentication<Principal>>(asked)) return admissionOf(asked);
    return inTime(asked, bodyTimeoutMs, clock).then((found) => {
      if (found !== tooLate) return admissionOf(found);
      this.tell(new RequestTimeoutError("authenticate", bodyTimeoutMs), request, transport);
      return refusal(503, { "retry-after": "1" });
    });
  }

  #answer(request: RequestView): Answer | Promise<Answer> {
    const { guard, health, routes } = this.#options;
    const refused = guard.check(request);
    if (refused) return refused;
    if (request.path === undefined) return refusal(400);
    const healthy = health.answer(request);
    if (healthy !== undefined) return healthy;
    const route = routes.get(request.path);
    if (!route) return refusal(404);
    const preflight = guard.preflight(request);
    if (preflight) return preflight;
    if (request.method !== "POST") return refusal(405, { allow: "POST" });
    // The body is waited for before this turn is over, where that can be: what comes with the head need not be kept then.
    const admitted = this.admit(request, "http", false);
    return admitted instanceof Promise
      ? admitted.then((late) => this.#admitted(request, route, late))
      : this.#admitted(request, route, admitted);
  }

  #admitted(
    request: RequestView,
    route: ExchangeRoute<Principal>,
    admitted: Admission<Principal>,
  ): Answer | Promise<Answer> {
    if (!("principal" in admitted)) return admitted;
    const { maxInFlight, maxBodyBytes } = this.#options;
    if (this.#inFlight >= maxInFlight) return refusal(503, { "retry-after": "1" });
    const encoding = request.header("content-encoding");
    if (!isJsonType(request.header("content-type"))) return refusal(415, { accept: "application/json" });
    if (encoding !== undefined && encoding.toLowerCase() !== "identity") return refusal(415);
    if ((toContentLength(request.header("content-length")) ?? 0) > maxBodyBytes) return refusal(413);
    return this.#exchange(request, route, admitted.principal);
  }

  async #exchange(
    request: RequestView,
    route: ExchangeRoute<Principal>,
    principal: Principal,
  ): Promise<Answer> {
    this.#inFlight++;
    try {
      const { maxBodyBytes, bodyTimeoutMs, clock } = this.#options;
      const body = await request.readBody({ maxBytes: maxBodyBytes, timeoutMs: bodyTimeoutMs, clock });
      if ("bytes" in body) {
        const answer = this.#handle(request, route, principal, body.bytes);
        return answer instanceof Promise ? await answer : answer;
      }
      if (body.problem === "too_large") return refusal(413);
      return refusal(body.problem === "too_slow" ? 408 : 400);
    } finally {
      this.#inFlight--;
    }
  }

  #handle(
    request: RequestView,
    route: ExchangeRoute<Principal>,
    principal: Principal,
    bytes: Uint8Array,
  ): Answer | Promise<Answer> {
    const context = new ExchangeContext(request, request.path ?? "", principal, this.#options.contextHeaders);
    let message: unknown;
    try {
      message = this.#codec.decode(bytes);
    } catch (error) {
      if (!HarnessError.isInstance(error) || error.code !== "invalid_message") throw error;
      return this.#malformed(error as InvalidMessageError, route, context, request);
    }
    const send = (reply: unknown) => this.#reply(reply, route, context, request);
    const replied: unknown = senderOf(route.handle).call(route, message, context);
    return isThenable(replied) ? Promise.resolve(replied).then(send) : send(replied);
  }

  async #malformed(
    error: InvalidMessageError,
    route: ExchangeRoute<Principal>,
    context: HttpExchangeContext<Principal>,
    request: RequestView,
  ): Promise<Answer> {
    const reply: unknown = await route.malformed?.(error, context);
    return reply === undefined ? refusal(400) : this.#reply(reply, route, context, request);
  }

  #reply(
    reply: unknown,
    route: ExchangeRoute<Principal>,
    context: HttpExchangeContext<Principal>,
    request: RequestView,
  ): Answer {
    const own = route.replyHeaders && this.#ownHeaders(route, context, request);
    if (reply === undefined) return { status: 204, headers: noHeaders, own };
    return { status: 200, headers: jsonHeaders, own, body: this.#encode(reply, route) };
  }

  /** Never throws: the message was handled, and the reply has to arrive. */
  #ownHeaders(
    route: ExchangeRoute<Principal>,
    context: HttpExchangeContext<Principal>,
    request: RequestView,
  ) {
    const tell = (error: unknown) => this.tell(error, request, "http");
    try {
      return checkedReplyHeaders(route.replyHeaders?.(context), tell);
    } catch (error) {
      tell(error);
      return undefined;
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
