import {
  createMessageCodec,
  defineLimits,
  HarnessError,
  type LimitsOf,
  type MessageCodec,
  systemClock,
} from "@harnesskit/wire";
import { assertPath } from "../check-options.ts";
import { handlerDefinitions } from "../limits.ts";
import { checkChatHandlerOptions } from "../option-names.ts";
import { isJsonType } from "../read-body.ts";
import { jsonHeaders, refuseWith } from "../server/answers.ts";
import { type Admission, authenticateOf, type TokenPrincipal } from "../server/authenticate.ts";
import { ExchangeCore } from "../server/exchange-core.ts";
import { type FetchHandler, FetchRequestView } from "../server/fetch-handler.ts";
import type { HandlerOptions } from "../server/handler-options.ts";
import type { Answer, RequestView } from "../server/request-view.ts";
import { toChatFailure } from "./chat-failure.ts";
import { readPath, readSend } from "./chat-request.ts";
import type { ChatAction, ChatSource } from "./chat-source.ts";
import { eventStreamHeaders, toEventStream } from "./event-stream.ts";

export const chatHandlerLimits = defineLimits({
  ...handlerDefinitions,
  /** Requests and streams that are open at one time; further ones are answered 503. */
  maxInFlight: 1024,
  /** A comment is sent on a stream after so long without a chunk. */
  keepAliveMs: 15_000,
});
export type ChatHandlerLimits = LimitsOf<typeof chatHandlerLimits>;

export type ChatHandlerOptions<Principal = TokenPrincipal> = Omit<
  HandlerOptions,
  "contextHeaders" | "health" | "limits"
> &
  Admission<Principal> & {
    /** What the chats are made of: a `ChatTransport` on the server. */
    readonly transport: ChatSource;
    /** Where it is mounted, the `api` of `DefaultChatTransport`. @default "/api/chat" */
    readonly path?: string | undefined;
    /** The hosts that requests may be made to: `localhost` for any port, `agent.example:8443` for one. */
    readonly allowedHosts: readonly string[];
    /**
     * Whether this principal may do this with this chat; false is answered 403. It is asked before anything of the chat is read.
     * @default whoever is admitted may do everything with each chat
     */
    readonly authorize?:
      | ((request: {
          readonly action: ChatAction;
          readonly chatId: string;
          readonly principal: Principal;
        }) => boolean | Promise<boolean>)
      | undefined;
    /** @default see each limit */
    readonly limits?: Partial<ChatHandlerLimits> | undefined;
  };

/** The end of a request: an answer, or a stream of chunks. */
type Outcome = Answer | { readonly chunks: ReadableStream<unknown> };

const refuse = (status: number, code: string, text: string): Answer => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8", "x-error-code": code },
  body: text,
});

/** One mounted handler. */
class ChatEndpoint<Principal> {
  readonly #options: ChatHandlerOptions<Principal>;
  readonly #limits: ChatHandlerLimits;
  readonly #core: ExchangeCore<Principal>;
  readonly #codec: MessageCodec;
  readonly #path: string;
  #inFlight = 0;

  constructor(options: ChatHandlerOptions<Principal>) {
    const { allowedHosts, path = "/api/chat" } = options;
    assertPath(path);
    this.#options = options;
    this.#path = path;
    this.#limits = chatHandlerLimits.resolve(options.limits);
    const { maxBodyBytes, maxDepth } = this.#limits;
    this.#codec = createMessageCodec({ maxFrameBytes: maxBodyBytes, maxDepth });
    this.#core = new ExchangeCore<Principal>(options, {
      routes: {},
      allowedHosts,
      allowHostOrigins: true,
      limits: this.#limits,
      authenticate: authenticateOf(options),
    });
  }

  /** Answers a request. Never rejects. */
  async answer(request: FetchRequestView): Promise<Response> {
    const { maxInFlight, keepAliveMs } = this.#limits;
    if (this.#inFlight >= maxInFlight) return this.#finish(request, refuseWith(503, { "retry-after": "1" }));
    this.#inFlight++;
    const onEnd = () => void this.#inFlight--;
    const onError = (error: unknown) => this.#core.tell(error, request, "http");
    let outcome: Outcome;
    try {
      outcome = await this.#outcome(request);
    } catch (error) {
      const { status, code, text } = toChatFailure(error);
      if (status === 500) onError(error);
      outcome = refuse(status, code, text);
    }
    if ("chunks" in outcome) {
      const { signal } = request;
      const clock = this.#options.clock ?? systemClock;
      const stream = toEventStream(outcome.chunks, { clock, keepAliveMs, signal, onError, onEnd });
      return this.#finish(request, { status: 200, headers: eventStreamHeaders }, stream);
    }
    onEnd();
    this.#core.refused(request, outcome, "http");
    return this.#finish(request, outcome);
  }

  #finish(request: FetchRequestView, answer: Answer, stream?: ReadableStream<Uint8Array>): Response {
    const { status, headers, body } = this.#core.finish(request, answer);
    return new Response(stream ?? body ?? null, { status, headers });
  }

  async #outcome(request: FetchRequestView): Promise<Outcome> {
    const { guard } = this.#core;
    const refused = guard.check(request);
    if (refused) return refused;
    const { path } = request;
    const isBelow = path === this.#path || path.startsWith(`${this.#path}/`);
    const asked = isBelow ? readPath(path.slice(this.#path.length)) : undefined;
    if (!asked) return refuseWith(404);
    const preflight = guard.preflight(request);
    if (preflight) return preflight;
    if (request.method !== asked.method) return refuseWith(405, { allow: asked.method });
    const admitted = await this.#core.admit(request, "http", false);
    if (!("principal" in admitted)) return admitted;
    const { principal } = admitted;
    if (asked.chatId === undefined) return this.#send(request, principal);
    return this.#authorized({ ...asked, chatId: asked.chatId, principal }, () =>
      this.#serve(asked.action, { chatId: asked.chatId ?? "" }),
    );
  }

  async #authorized(
    request: { readonly action: ChatAction; readonly chatId: string; readonly principal: Principal },
    serve: () => Promise<Outcome>,
  ): Promise<Outcome> {
    const { action, chatId, principal } = request;
    const isAllowed = (await this.#options.authorize?.({ action, chatId, principal })) ?? true;
    return isAllowed === true ? serve() : refuseWith(403);
  }

  async #send(request: RequestView, principal: Principal): Promise<Outcome> {
    const message = await this.#readBody(request);
    if ("refused" in message) return message.refused;
    const send = readSend(message.body);
    if (typeof send === "string") return refuse(400, "invalid_argument", send);
    const { chatId } = send;
    return this.#authorized({ action: "send", chatId, principal }, async () => ({
      chunks: await this.#options.transport.sendMessages(send),
    }));
  }

  async #serve(action: ChatAction, chat: { readonly chatId: string }): Promise<Outcome> {
    const { transport } = this.#options;
    if (action === "resume") {
      const chunks = await transport.reconnectToStream(chat);
      return chunks ? { chunks } : { status: 204, headers: {} };
    }
    if (action === "read") {
      const messages = await transport.readMessages?.(chat);
      if (!messages) return refuseWith(404);
      return { status: 200, headers: jsonHeaders, body: JSON.stringify(messages) };
    }
    if (!transport.cancel) return refuseWith(404);
    await transport.cancel(chat);
    return { status: 204, headers: {} };
  }

  async #readBody(request: RequestView): Promise<{ readonly body: unknown } | { readonly refused: Answer }> {
    const { maxBodyBytes, bodyTimeoutMs: timeoutMs } = this.#limits;
    const clock = this.#options.clock ?? systemClock;
    if (!isJsonType(request.header("content-type")))
      return { refused: refuseWith(415, { accept: "application/json" }) };
    const read = await request.readBody({ maxBytes: maxBodyBytes, timeoutMs, clock });
    if ("problem" in read) return { refused: this.#core.unread(request, read.problem) };
    try {
      return { body: this.#codec.decode(read.bytes) };
    } catch (error) {
      if (!HarnessError.isInstance(error)) throw error;
      return { refused: refuse(400, "invalid_message", "The body is not JSON, or nests too deep.") };
    }
  }
}

/**
 * Serves chats to `useChat` with `DefaultChatTransport({ api: path })`, as a web-standard handler that any framework mounts:
 *
 * | request | answer |
 * |---|---|
 * | `POST {path}` | the stream of the answer, `text/event-stream` |
 * | `GET {path}/{id}/stream` | the answer that is on its way, or 204 |
 * | `GET {path}/{id}/messages` | the messages so far, as JSON |
 * | `POST {path}/{id}/cancel` | 204; the answer that was on its way ends |
 *
 * A failure has a status, a sentence as its body and its code in `x-error-code`. Throws `invalid_argument`, also where neither a token
 * nor `authenticate` is given: pass `allowAnyone` where something before the handler has looked at the credentials.
 */
export const createChatHandler = <Principal = TokenPrincipal>(
  options: ChatHandlerOptions<Principal>,
): FetchHandler => {
  checkChatHandlerOptions(options);
  const endpoint = new ChatEndpoint<Principal>(options);
  return (request, info) => endpoint.answer(new FetchRequestView(request, info));
};
