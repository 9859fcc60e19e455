import type { Clock, HarnessError, InvalidMessageError } from "@harnesskit/wire";
import type { HandlerLimits } from "../limits.ts";
import type { HttpExchangeContext } from "./context.ts";

/** The handler of the messages that are posted to one path. */
export interface ExchangeRoute<Principal> {
  /** Handles one message, which came as this JSON. Returns the reply, or undefined for a message that has no reply. */
  readonly handle: (
    message: unknown,
    context: HttpExchangeContext<Principal>,
    json: string,
  ) => Promise<unknown>;
  /**
   * Handles a message whose sender also accepts `text/event-stream`: returns what `handle` does, or a `MessageStream`, which
   * is sent as server-sent events. @default `handle`
   */
  readonly handleStream?:
    | ((message: unknown, context: HttpExchangeContext<Principal>, json: string) => Promise<unknown>)
    | undefined;
  /**
   * The reply to a body that is not a message (`invalid_message`), for a protocol that defines one; sent with 200.
   * @default status 400
   */
  readonly malformed?:
    | ((error: InvalidMessageError, context: HttpExchangeContext<Principal>) => unknown)
    | undefined;
  /**
   * Replaces a reply that cannot be sent, because it exceeds a limit or is not JSON.
   * @default status 500
   */
  readonly unsendable?: ((reply: unknown, error: HarnessError) => unknown) | undefined;
  /**
   * Headers of the answer to a message, of visible ASCII; the server's own stand before them. Headers that cannot be
   * sent are left out and reported to `onError` as `invalid_reply_header`; so is what this throws. @default none
   */
  readonly replyHeaders?:
    | ((context: HttpExchangeContext<Principal>) => Readonly<Record<string, string>> | undefined)
    | undefined;
}

/** What every server of exchanges can set. */
export interface HandlerOptions {
  /** The origins whose pages may post, as `https://app.example`; without wildcards. @default none; a fetch handler also takes pages of its `allowedHosts` */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** @default see each limit */
  readonly limits?: Partial<HandlerLimits> | undefined;
  /** Headers that the context shows, beside none that holds a credential. @default ["user-agent"] */
  readonly contextHeaders?: readonly string[] | undefined;
  /**
   * Receives the failures of which a client sees only a 500, and with an empty path that the system gives a server no more connections. What it
   * throws is ignored. @default ignores them
   */
  readonly onError?:
    | ((error: unknown, request: { readonly path: string; readonly transport: string }) => void)
    | undefined;
  /**
   * Receives requests that were refused before they were handled: 401 for their credentials, 403 for their host, origin or principal. `host`
   * and `origin` are the headers: untrusted text. What it throws is ignored. @default ignores them
   */
  readonly onRefused?:
    | ((request: {
        readonly status: 401 | 403;
        readonly transport: "http" | "websocket";
        readonly path: string | undefined;
        readonly remoteAddress: string | undefined;
        readonly host: string | undefined;
        readonly origin: string | undefined;
      }) => void)
    | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}
