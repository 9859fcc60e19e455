import {
  type Channel,
  type Clock,
  type HarnessError,
  RequestCancelledError,
  systemClock,
  type Transport,
  TransportError,
} from "@harnesskit/wire";
import { toClientUrl } from "../client-url.ts";
import type { HttpCredentials } from "../credentials.ts";
import type { WebSocketLimits } from "../limits.ts";
import type { FramePipe } from "./frame-pipe.ts";
import { createSocketChannel } from "./socket-channel.ts";

/** What a client knows about its WebSocket. */
export interface WebSocketClientContext {
  readonly transport: "websocket";
  /** Where it leads, without query and credentials. */
  readonly endpoint: string;
}

/** What every client of a WebSocket can set. */
export interface WebSocketClientOptions {
  /** `ws://…` or `wss://…`, without user name, password and fragment. */
  readonly url: string | URL;
  readonly credentials?: HttpCredentials | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}

/** The options with their defaults; `endpoint` is the URL without query and credentials. Throws `invalid_argument`. */
export const resolveSocketClient = (options: WebSocketClientOptions, limits: WebSocketLimits) => {
  const { clock = systemClock } = options;
  return { ...toClientUrl(options.url, ["ws:", "wss:"]), limits, clock };
};

export interface OpeningSocket {
  opened(socket: FramePipe): void;
  failed(error: HarnessError): void;
}

/** A transport over a platform's way to open a socket: `open` begins, and returns what gives up. */
export const createSocketTransport = (
  { endpoint, limits, clock }: ReturnType<typeof resolveSocketClient>,
  open: (opening: OpeningSocket) => () => void,
): Transport<WebSocketClientContext> => {
  const connect = (signal: AbortSignal | undefined): Promise<Channel<WebSocketClientContext>> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(new RequestCancelledError("connect", { cause: signal.reason }));
        return;
      }
      let isSettled = false;
      let giveUp = () => {};
      const settle = () => {
        isSettled = true;
        cancelTimer();
        signal?.removeEventListener("abort", onAbort);
      };
      const failed = (error: HarnessError) => {
        if (isSettled) return;
        settle();
        giveUp();
        reject(error);
      };
      const opened = (socket: FramePipe) => {
        if (isSettled) return;
        settle();
        const context = { transport: "websocket", endpoint } as const;
        resolve(createSocketChannel(socket, context, limits, clock).channel);
      };
      const onAbort = () => failed(new RequestCancelledError("connect", { cause: signal?.reason }));
      const cancelTimer = clock.after(limits.connectTimeoutMs, () =>
        failed(new TransportError(`${endpoint} did not answer within ${limits.connectTimeoutMs} ms`)),
      );
      signal?.addEventListener("abort", onAbort, { once: true });
      giveUp = open({ opened, failed });
    });
  return { connect: ({ signal } = {}) => connect(signal) };
};
