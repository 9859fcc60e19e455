import { InvalidArgumentError, type Transport, TransportError } from "@harnesskit/wire";
import { withQueryCredentials } from "../credentials.ts";
import { WebSocketCloseError } from "../errors.ts";
import { type WebSocketLimits, webSocketLimits } from "../limits.ts";
import { checkWebSocketTransportOptions } from "../option-names.ts";
import {
  createSocketTransport,
  resolveSocketClient,
  type WebSocketClientContext,
  type WebSocketClientOptions,
} from "./connect-socket.ts";
import type { FramePipe } from "./frame-pipe.ts";
import { PlatformSocket, type PlatformWebSocket } from "./platform-socket.ts";

export interface PlatformTransportOptions extends WebSocketClientOptions {
  /**
   * A browser sends no headers of ours: with `query`, credentials go into the query, as `api_key` or `token`. A URL may
   * end up in logs on its way.
   * @default credentials are refused
   */
  readonly credentialsIn?: "query" | undefined;
  /** @default see each limit */
  readonly limits?: Partial<WebSocketLimits> | undefined;
  /** @default the platform's WebSocket */
  readonly WebSocket?: (new (url: string) => PlatformWebSocket) | undefined;
}

/**
 * Connects with the platform's WebSocket: for browsers, workers and Node 22. Throws `invalid_argument`, also for
 * credentials without `credentialsIn`. `connect` rejects with `transport_failed` (a browser does not distinguish a server
 * that refuses from one that is not there) and with `request_cancelled` when its signal aborts.
 */
export const createWebSocketTransport = (
  options: PlatformTransportOptions,
): Transport<WebSocketClientContext> => {
  checkWebSocketTransportOptions(options);
  const { credentials, credentialsIn } = options;
  const client = resolveSocketClient(options, webSocketLimits.resolve(options.limits));
  const { url, endpoint, limits, clock } = client;
  if (credentials && credentialsIn !== "query") {
    throw new InvalidArgumentError(
      'this WebSocket sends no headers: pass credentialsIn: "query", or use the transport of ./node',
    );
  }
  const platform = (globalThis as { WebSocket?: PlatformTransportOptions["WebSocket"] }).WebSocket;
  const Socket = options.WebSocket ?? platform;
  if (!Socket) throw new InvalidArgumentError("this platform has no WebSocket: pass one, or use ./node");
  const target = credentials ? withQueryCredentials(url, credentials).href : url.href;

  const open = (abort: AbortSignal) =>
    new Promise<FramePipe>((resolve, reject) => {
      let socket: PlatformWebSocket;
      try {
        socket = new Socket(target);
      } catch {
        // The platform's message may hold the URL, and that the credentials.
        reject(new TransportError(`the platform opens no WebSocket to ${endpoint}`));
        return;
      }
      socket.binaryType = "arraybuffer";
      // Listens from the first moment: what arrives right behind the handshake belongs to the channel.
      const frames = new PlatformSocket(socket, { ...limits, clock });
      abort.addEventListener("abort", () => frames.terminate(), { once: true });
      socket.addEventListener("error", () => {});
      // A browser reports nothing but the close code.
      socket.addEventListener("close", ({ code }) =>
        reject(
          code === 1006 || code === 1005
            ? new TransportError(`${endpoint} cannot be reached, or does not take this client`)
            : new WebSocketCloseError(code, "peer"),
        ),
      );
      socket.addEventListener("open", () => resolve(frames));
    });
  return createSocketTransport(client, open);
};
