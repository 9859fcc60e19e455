import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import {
  type Channel,
  type Clock,
  callSafely,
  HarnessError,
  InvalidArgumentError,
  type Listener,
} from "@harnesskit/wire";
import { type WebSocket, WebSocketServer } from "ws";
import { busy } from "../server/answers.ts";
import type { HttpContext } from "../server/context.ts";
import type { Answer } from "../server/request-view.ts";
import { assertPath } from "../server/site-rules.ts";
import { closeCode } from "../socket/frame-pipe.ts";
import { createSocketChannel } from "../socket/socket-channel.ts";
import { type WebSocketListenerLimits, webSocketListenerLimits } from "./limits.ts";
import { WsSocket, wsLimits } from "./ws-socket.ts";

export interface WebSocketListenerOptions {
  /** The path that takes WebSockets; it may take posted messages too. A secret may come in their query: `api_key=…`, `token=…`. */
  readonly path: string;
  /** @default see each limit */
  readonly limits?: Partial<WebSocketListenerLimits> | undefined;
}

/** What a server knows about the client of a WebSocket. */
export interface WebSocketContext<Principal = unknown> extends HttpContext<Principal> {
  readonly transport: "websocket";
}

/** The WebSockets of one path. */
export class WebSocketEndpoint<Principal> implements Listener<WebSocketContext<Principal>> {
  readonly #server: WebSocketServer;
  readonly #limits: WebSocketListenerLimits;
  readonly #clock: Clock;
  /** The connections, each with what closes it as a server does that goes away. */
  readonly #open = new Map<WebSocket, () => Promise<void>>();
  readonly #onClose: () => void;
  #accept: ((channel: Channel<WebSocketContext<Principal>>) => void) | undefined;
  #isClosed = false;

  constructor(options: WebSocketListenerOptions, clock: Clock, onClose: () => void) {
    assertPath(options.path);
    this.#limits = webSocketListenerLimits.resolve(options.limits);
    this.#clock = clock;
    this.#onClose = onClose;
    this.#server = new WebSocketServer({ noServer: true, clientTracking: false, ...wsLimits(this.#limits) });
  }

  async listen(accept: (channel: Channel<WebSocketContext<Principal>>) => void): Promise<void> {
    if (this.#isClosed || this.#accept) throw new InvalidArgumentError("a listener listens once");
    this.#accept = accept;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#onClose();
    await Promise.all([...this.#open.values()].map((goAway) => goAway()));
    // A peer that broke a rule may still be in its closing handshake.
    for (const ws of this.#open.keys()) ws.terminate();
  }

  /** The refusal of an upgrade that cannot be taken now; undefined for one that can. */
  refuse(): Answer | undefined {
    const isTaking = this.#accept && !this.#isClosed && this.#open.size < this.#limits.maxConnections;
    return isTaking ? undefined : busy();
  }

  /** Takes an upgrade that passed the rules of hosts, origins and credentials. */
  take(request: IncomingMessage, socket: Socket, head: Buffer, context: WebSocketContext<Principal>): void {
    const { path, remoteAddress, principal, headers } = context;
    const kept = { transport: "websocket", path, remoteAddress, principal, headers } as const;
    const clock = this.#clock;
    this.#server.handleUpgrade(request, socket, head, (ws) => {
      const frames = new WsSocket(ws, socket, { ...this.#limits, clock });
      const channel = createSocketChannel<WebSocketContext<Principal>>(frames, kept, this.#limits, clock);
      this.#open.set(ws, () => {
        frames.closeCode = closeCode.goingAway;
        return channel.close();
      });
      ws.once("close", () => this.#open.delete(ws));
      callSafely(
        () => this.#accept?.(channel),
        (cause) =>
          channel.close(new HarnessError("handler_failed", "a connection could not be taken", { cause })),
      );
    });
  }
}
