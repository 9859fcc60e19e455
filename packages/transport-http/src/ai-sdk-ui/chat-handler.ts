import { defineLimits, type LimitsOf } from "@harnesskit/wire";
import { handlerDefinitions } from "../limits.ts";
import { checkChatHandlerOptions } from "../option-names.ts";
import { jsonHeaders, plainText, refuseWith } from "../server/answers.ts";
import { type Admission, authenticateOf, type TokenPrincipal } from "../server/authenticate.ts";
import { eventHeaders } from "../server/event-stream.ts";
import { ExchangeCore } from "../server/exchange-core.ts";
import { type FetchHandler, FetchRequestView, toResponse } from "../server/fetch-handler.ts";
import type { HandlerOptions } from "../server/handler-options.ts";
import type { Answer } from "../server/request-view.ts";
import { assertPath } from "../server/site-rules.ts";
import { chatEvents } from "./chat-events.ts";
import { toChatFailure } from "./chat-failure.ts";
import { readPath, readSend } from "./chat-request.ts";
import type { ChatAction, ChatSource } from "./chat-source.ts";

const chatHandlerLimits = defineLimits({
  ...handlerDefinitions,
  /** Requests and streams that are open at one time; further ones are answered 503. */
  maxInFlight: 1024,
});

export type ChatHandlerOptions<Principal = TokenPrincipal> = Omit<
  HandlerOptions,
  "contextHeaders" | "limits"
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
    readonly limits?: Partial<LimitsOf<typeof chatHandlerLimits>> | undefined;
  };

/** The headers of a stream of UI messages, as the AI SDK knows it by. */
const streamHeaders = { ...eventHeaders, "x-vercel-ai-ui-message-stream": "v1" };

const refuse = (status: number, code: string, text: string): Answer =>
  plainText(status, text, { "x-error-code": code });

const noContent: Answer = { status: 204, headers: {} };

/** One mounted handler. */
class ChatEndpoint<Principal> {
  readonly #options: ChatHandlerOptions<Principal>;
  readonly #core: ExchangeCore<Principal>;
  readonly #path: string;

  constructor(options: ChatHandlerOptions<Principal>) {
    const { path = "/api/chat" } = options;
    assertPath(path);
    this.#options = options;
    this.#path = path;
    this.#core = new ExchangeCore<Principal>({
      ...options,
      routes: {},
      allowHostOrigins: true,
      limits: chatHandlerLimits.resolve(options.limits),
      authenticate: authenticateOf(options),
    });
  }

  /** Answers a request. Never rejects. */
  async answer(request: FetchRequestView): Promise<Response> {
    const answer = await this.#core.inPlace((leave) =>
      this.#answer(request, leave).catch((error: unknown) => {
        const { status, code, text } = toChatFailure(error);
        if (status === 500) this.#core.tell(error, request, "http");
        return refuse(status, code, text);
      }),
    );
    this.#core.refused(request, answer, "http");
    return toResponse(this.#core.finish(request, answer), request);
  }

  async #answer(request: FetchRequestView, leave: () => void): Promise<Answer> {
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
    const context = await this.#core.admit(request, "http");
    if ("status" in context) return context;
    const stream = (chunks: ReadableStream<unknown>): Answer => {
      const events = chatEvents(chunks, (error) => this.#core.tell(error, request, "http"));
      return {
        status: 200,
        headers: streamHeaders,
        stream: this.#core.eventText(events, (text) => text as string, leave),
      };
    };
    const { principal } = context;
    const { action, chatId } = asked;
    if (chatId === undefined) return this.#send(request, principal, stream);
    return (await this.#isAllowed(action, chatId, principal))
      ? this.#serve(action, chatId, stream)
      : refuseWith(403);
  }

  async #isAllowed(action: ChatAction, chatId: string, principal: Principal): Promise<boolean> {
    const isAllowed = (await this.#options.authorize?.({ action, chatId, principal })) ?? true;
    return isAllowed === true;
  }

  async #send(
    request: FetchRequestView,
    principal: Principal,
    stream: (chunks: ReadableStream<unknown>) => Answer,
  ): Promise<Answer> {
    const read = await this.#core.readMessage(request, () =>
      refuse(400, "invalid_message", "The body is not JSON, or nests too deep."),
    );
    if ("status" in read) return read;
    const send = readSend(read.message);
    if (typeof send === "string") return refuse(400, "invalid_argument", send);
    if (!(await this.#isAllowed("send", send.chatId, principal))) return refuseWith(403);
    return stream(await this.#options.transport.sendMessages(send));
  }

  async #serve(
    action: ChatAction,
    chatId: string,
    stream: (chunks: ReadableStream<unknown>) => Answer,
  ): Promise<Answer> {
    const { transport } = this.#options;
    if (action === "resume") {
      const chunks = await transport.reconnectToStream({ chatId });
      return chunks ? stream(chunks) : noContent;
    }
    if (action === "read") {
      const messages = await transport.readMessages?.({ chatId });
      return messages
        ? { status: 200, headers: jsonHeaders, body: JSON.stringify(messages) }
        : refuseWith(404);
    }
    if (!transport.cancel) return refuseWith(404);
    await transport.cancel({ chatId });
    return noContent;
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
