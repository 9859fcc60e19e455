import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import {
  type Channel,
  type HarnessError,
  RequestCancelledError,
  type Transport,
  TransportError,
} from "@harnesskit/wire";
import { WebSocket } from "ws";
import { assertTimes } from "../check-options.ts";
import { toClientUrl } from "../client-url.ts";
import { toConnectionError } from "../connection-error.ts";
import { checkedHeaders, withQueryCredentials } from "../credentials.ts";
import { HttpStatusError } from "../errors.ts";
import { assertProtocols, createSocketChannel, resolveSocketLimits } from "../socket/socket-channel.ts";
import type { WebSocketClientContext, WebSocketClientOptions } from "../socket/web-socket-transport.ts";
import type { ClientTlsOptions } from "./node-poster.ts";
import type { NodeSocketOptions } from "./node-socket-options.ts";
import { WsSocket, wsLimits } from "./ws-socket.ts";

export interface NodeWebSocketTransportOptions extends WebSocketClientOptions, NodeSocketOptions {
  /**
   * Where credentials are sent. `query` is for servers that know nothing else: the URL may end up in logs.
   * @default "header"
   */
  readonly credentialsIn?: "header" | "query";
  /** Sent with the handshake. @default none */
  readonly headers?: Readonly<Record<string, string>>;
  /** For `wss:` URLs. @default the system's certificate authorities */
  readonly tls?: ClientTlsOptions;
}

const toHandshakeError = (endpoint: string, cause: Error): HarnessError => {
  if ("code" in cause) return toConnectionError(endpoint, cause);
  return new TransportError(`${endpoint} does not answer as a WebSocket server: ${cause.message}`, { cause });
};

/**
 * Connects over `ws`, with credentials in a header. Throws `invalid_argument`. `connect` rejects with the error of
 * the status that the server refused with (`unauthorized`, `forbidden`, `not_found`, `unavailable`, …), with
 * `transport_failed`, `tls_failed`, and with `request_cancelled` when its signal aborts.
 */
export const createWebSocketTransport = (
  options: NodeWebSocketTransportOptions,
): Transport<WebSocketClientContext> => {
  const { credentials, credentialsIn = "header", protocols = [], connectTimeoutMs = 5000, tls } = options;
  const { pingIntervalMs = 30_000, pongTimeoutMs = 10_000, compression = false } = options;
  const { url, endpoint } = toClientUrl(options.url, ["ws:", "wss:"]);
  const limits = resolveSocketLimits(options);
  assertTimes({ connectTimeoutMs, pingIntervalMs, pongTimeoutMs });
  assertProtocols(protocols);
  const inQuery = credentialsIn === "query" && credentials !== undefined;
  const target = inQuery ? withQueryCredentials(url, credentials) : url;
  const headers = checkedHeaders(options.headers ?? {}, inQuery ? undefined : credentials);
  const { clock, maxFrameBytes } = limits;
  const wsOptions = { ...wsLimits(limits, compression), ...tls, headers, followRedirects: false };
  const live = { clock, pingIntervalMs, pongTimeoutMs, maxFrameBytes, compression };

  const connect = (signal: AbortSignal | undefined): Promise<Channel<WebSocketClientContext>> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(new RequestCancelledError("connect", { cause: signal.reason }));
        return;
      }
      const ws = new WebSocket(target, [...protocols], wsOptions);
      let raw: Socket | undefined;
      const settle = () => {
        takeBack();
        signal?.removeEventListener("abort", onAbort);
        ws.off("error", onError);
      };
      const giveUp = (error: HarnessError) => {
        settle();
        ws.on("error", () => {});
        ws.terminate();
        reject(error);
      };
      const onAbort = () => giveUp(new RequestCancelledError("connect", { cause: signal?.reason }));
      const onError = (cause: Error) => giveUp(toHandshakeError(endpoint, cause));
      const takeBack = clock.after(connectTimeoutMs, () =>
        giveUp(new TransportError(`${endpoint} did not answer within ${connectTimeoutMs} ms`)),
      );
      signal?.addEventListener("abort", onAbort, { once: true });
      ws.on("error", onError);
      ws.on("unexpected-response", (_request, response: IncomingMessage) => {
        response.on("error", () => {});
        response.destroy();
        giveUp(new HttpStatusError(endpoint, response.statusCode ?? 0));
      });
      ws.on("upgrade", (response) => {
        raw = response.socket;
      });
      ws.on("open", () => {
        if (!raw) return;
        const context = { transport: "websocket", endpoint, protocol: ws.protocol || undefined } as const;
        const { channel } = createSocketChannel(new WsSocket(ws, raw, live), context, limits);
        settle();
        resolve(channel);
      });
    });
  return { connect: ({ signal } = {}) => connect(signal) };
};
