import {
  type Channel,
  type HarnessError,
  InvalidArgumentError,
  RequestCancelledError,
  type Transport,
  TransportError,
} from "@harnesskit/wire";
import { assertTimes } from "../check-options.ts";
import { toClientUrl } from "../client-url.ts";
import { type HttpCredentials, withQueryCredentials } from "../credentials.ts";
import { WebSocketCloseError } from "../errors.ts";
import { PlatformSocket, type PlatformWebSocket } from "./platform-socket.ts";
import {
  assertProtocols,
  createSocketChannel,
  resolveSocketLimits,
  type SocketChannelOptions,
} from "./socket-channel.ts";

/** What a client knows about its WebSocket. */
export interface WebSocketClientContext {
  readonly transport: "websocket";
  /** Where it leads, without query and credentials. */
  readonly endpoint: string;
  /** The subprotocol that the server chose. */
  readonly protocol: string | undefined;
}

/** What every client of a WebSocket can set. */
export interface WebSocketClientOptions extends SocketChannelOptions {
  /** `ws://…` or `wss://…`, without user name, password and fragment. */
  readonly url: string | URL;
  readonly credentials?: HttpCredentials;
  /** Names of what is spoken, the preferred one first. @default none */
  readonly protocols?: readonly string[];
  /** How long connecting may take. @default 5000 */
  readonly connectTimeoutMs?: number;
}

export interface PlatformTransportOptions extends WebSocketClientOptions {
  /**
   * A browser sends no header of ours: credentials go into the query, as `api_key` or `token`, if this says so. A
   * URL may end up in logs on its way.
   * @default credentials are refused
   */
  readonly credentialsIn?: "query";
  /** @default the platform's WebSocket */
  readonly WebSocket?: new (
    url: string,
    protocols?: string[],
  ) => PlatformWebSocket;
}

/** Rejects with what is known about a WebSocket that did not open; a browser tells nothing but its close code. */
const toConnectError = (endpoint: string, code: number): HarnessError =>
  code === 1006 || code === 1005
    ? new TransportError(`${endpoint} cannot be reached, or does not take this client`)
    : new WebSocketCloseError(code, "peer");

/**
 * Connects with the platform's WebSocket: for browsers, workers and Node 22. Throws `invalid_argument`, also for
 * credentials without `credentialsIn`. `connect` rejects with `transport_failed` (a browser does not tell a server
 * that refuses from one that is not there) and with `request_cancelled` when its signal aborts.
 */
export const createWebSocketTransport = (
  options: PlatformTransportOptions,
): Transport<WebSocketClientContext> => {
  const { credentials, credentialsIn, protocols = [], connectTimeoutMs = 5000 } = options;
  const { url, endpoint } = toClientUrl(options.url, ["ws:", "wss:"]);
  const limits = resolveSocketLimits(options);
  assertTimes({ connectTimeoutMs });
  assertProtocols(protocols);
  if (credentials && credentialsIn !== "query") {
    throw new InvalidArgumentError(
      'this WebSocket sends no headers: pass credentialsIn: "query", or use the transport of ./node',
    );
  }
  const platform = (globalThis as { WebSocket?: PlatformTransportOptions["WebSocket"] }).WebSocket;
  const Socket = options.WebSocket ?? platform;
  if (!Socket) throw new InvalidArgumentError("this platform has no WebSocket: pass one, or use ./node");
  const target = credentials ? withQueryCredentials(url, credentials).href : url.href;

  const connect = (signal: AbortSignal | undefined): Promise<Channel<WebSocketClientContext>> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(new RequestCancelledError("connect", { cause: signal.reason }));
        return;
      }
      let socket: PlatformWebSocket;
      try {
        socket = new Socket(target, protocols.length > 0 ? [...protocols] : undefined);
      } catch {
        // The platform's words may hold the URL, and that the credentials.
        reject(new TransportError(`the platform opens no WebSocket to ${endpoint}`));
        return;
      }
      socket.binaryType = "arraybuffer";
      // From the first moment: what comes right behind the handshake belongs to the channel.
      const { clock, maxBufferedBytes } = limits;
      const frames = new PlatformSocket(socket, { clock, maxHeldBytes: maxBufferedBytes });
      let isSettled = false;
      const giveUp = (error: HarnessError) => {
        if (isSettled) return;
        settle();
        frames.terminate();
        reject(error);
      };
      const onAbort = () => giveUp(new RequestCancelledError("connect", { cause: signal?.reason }));
      const takeBack = clock.after(connectTimeoutMs, () =>
        giveUp(new TransportError(`${endpoint} did not answer within ${connectTimeoutMs} ms`)),
      );
      const settle = () => {
        isSettled = true;
        takeBack();
        signal?.removeEventListener("abort", onAbort);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      socket.addEventListener("error", () => {});
      socket.addEventListener("close", ({ code }) => giveUp(toConnectError(endpoint, code)));
      socket.addEventListener("open", () => {
        if (isSettled) return;
        settle();
        const context = { transport: "websocket", endpoint, protocol: socket.protocol || undefined } as const;
        resolve(createSocketChannel(frames, context, limits).channel);
      });
    });
  return { connect: ({ signal } = {}) => connect(signal) };
};
