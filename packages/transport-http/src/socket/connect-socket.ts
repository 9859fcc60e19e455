import { type Clock, systemClock, type Transport, TransportError } from "@harnesskit/wire";
import { settleWithin } from "@harnesskit/wire/time";
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
export const resolveSocketClient = <Limits extends WebSocketLimits>(
  { url, clock = systemClock }: WebSocketClientOptions,
  limits: Limits,
) => ({ ...toClientUrl(url, ["ws:", "wss:"]), limits, clock });

/** A transport over a platform's way to open a socket, which gives up when its signal aborts. */
export const createSocketTransport = (
  { endpoint, limits, clock }: ReturnType<typeof resolveSocketClient>,
  open: (abort: AbortSignal) => Promise<FramePipe>,
): Transport<WebSocketClientContext> => ({
  async connect({ signal } = {}) {
    const { connectTimeoutMs: timeoutMs } = limits;
    const opened = await settleWithin(open, { name: "connect", timeoutMs, signal, clock });
    if (opened.status === "timed_out")
      throw new TransportError(`${endpoint} did not answer within ${timeoutMs} ms`);
    if (opened.status !== "done") throw opened.error;
    const context = { transport: "websocket", endpoint } as const;
    return createSocketChannel(opened.value, context, limits, clock);
  },
});
