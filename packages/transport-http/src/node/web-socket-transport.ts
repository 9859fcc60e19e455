import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { type HarnessError, type Transport, TransportError } from "@harnesskit/wire";
import { WebSocket } from "ws";
import { toConnectionError } from "../connection-error.ts";
import { checkedHeaders, withQueryCredentials } from "../credentials.ts";
import { HttpStatusError } from "../errors.ts";
import { checkNodeWebSocketTransportOptions } from "../option-names.ts";
import {
  createSocketTransport,
  resolveSocketClient,
  type WebSocketClientContext,
  type WebSocketClientOptions,
} from "../socket/connect-socket.ts";
import type { FramePipe } from "../socket/frame-pipe.ts";
import type { ClientTlsOptions } from "./http-exchange.ts";
import { type NodeWebSocketLimits, nodeWebSocketLimits } from "./limits.ts";
import { WsSocket, wsLimits } from "./ws-socket.ts";

export interface NodeWebSocketTransportOptions extends WebSocketClientOptions {
  /** @default see each limit */
  readonly limits?: Partial<NodeWebSocketLimits> | undefined;
  /**
   * Where credentials are sent. `query` is for servers that know nothing else: the URL may end up in logs.
   * @default "header"
   */
  readonly credentialsIn?: "header" | "query" | undefined;
  /** Sent with the handshake. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** For `wss:` URLs. @default the system's certificate authorities */
  readonly tls?: ClientTlsOptions | undefined;
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
  checkNodeWebSocketTransportOptions(options);
  const { credentials, credentialsIn = "header", tls } = options;
  const limits = nodeWebSocketLimits.resolve(options.limits);
  const client = resolveSocketClient(options, limits);
  const { url, endpoint, clock } = client;
  const inQuery = credentialsIn === "query" && credentials !== undefined;
  const target = inQuery ? withQueryCredentials(url, credentials) : url;
  const headers = checkedHeaders(options.headers ?? {}, inQuery ? undefined : credentials);
  const wsOptions = { ...wsLimits(limits), ...tls, headers, followRedirects: false };
  const open = (abort: AbortSignal) =>
    new Promise<FramePipe>((resolve, reject) => {
      const ws = new WebSocket(target, wsOptions);
      let raw: Socket | undefined;
      abort.addEventListener("abort", () => ws.terminate(), { once: true });
      ws.on("error", (cause: Error) => reject(toHandshakeError(endpoint, cause)));
      ws.on("unexpected-response", (_request, response: IncomingMessage) => {
        reject(new HttpStatusError(endpoint, response.statusCode ?? 0));
        response.on("error", () => {});
        response.destroy();
        ws.terminate();
      });
      ws.on("upgrade", (response) => {
        raw = response.socket;
      });
      ws.on("open", () => {
        if (raw) resolve(new WsSocket(ws, raw, { ...limits, clock }));
      });
    });
  return createSocketTransport(client, open);
};
