import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import {
  type Channel,
  type Clock,
  callSafely,
  HarnessError,
  InvalidArgumentError,
  type Listener,
  systemClock,
} from "@harnesskit/wire";
import { type WebSocket, WebSocketServer } from "ws";
import { assertPath } from "../check-options.ts";
import { refuseWith } from "../server/answers.ts";
import type { HttpContext } from "../server/context.ts";
import type { Answer } from "../server/request-view.ts";
import { createSocketChannel, type SocketChannel } from "../socket/socket-channel.ts";
import { type WebSocketListenerLimits, webSocketListenerLimits } from "./limits.ts";
import { WsSocket, wsLimits } from "./ws-socket.ts";

export interface WebSocketListenerOptions {
  /** The path that takes WebSockets; it may take posted messages too. */
  readonly path: string;
  /** Takes the secret from the query (`api_key=…`, `token=…`) where no header has one. @default true */
  readonly acceptQueryCredentials?: boolean | undefined;
  /** @default see each limit */
  readonly limits?: Partial<WebSocketListenerLimits> | undefined;
  /** @default the server's */
  readonly clock?: Clock | undefined;
}

/** What a server knows about the client of a WebSocket. */
export interface WebSocketContext<Principal = unknown> extends HttpContext<Principal> {
  readonly transport: "websocket";
}

/** An upgrade that passed the rules of hosts, origins and credentials. */
export interface AdmittedUpgrade<Principal> {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
  readonly context: HttpContext<Principal>;
}

/** The WebSockets of one path. */
export class WebSocketEndpoint<Principal> implements Listener<WebSocketContext<Principal>> {
  readonly path: string;
  readonly acceptQueryCredentials: boolean;
  readonly #server: WebSocketServer;
  readonly #limits: WebSocketListenerLimits;
  readonly #live;
  readonly #clock: Clock;
  readonly #open = new Map<WebSocket, SocketChannel<WebSocketContext<Principal>>>();
  readonly #remove: (endpoint: WebSocketEndpoint<Principal>) => void;
  #accept: ((channel: Channel<WebSocketContext<Principal>>) => void) | undefined;
  #isClosed = false;

  constructor(options: WebSocketListenerOptions, remove: (endpoint: WebSocketEndpoint<Principal>) => void) {
    const { acceptQueryCredentials = true, clock = systemClock } = options;
    this.#limits = webSocketListenerLimits.resolve(options.limits);
    assertPath(options.path);
    this.path = options.path;
    this.acceptQueryCredentials = acceptQueryCredentials;
    this.#clock = clock;
    this.#live = { ...this.#limits, clock };
    this.#remove = remove;
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      ...wsLimits(this.#limits),
    });
  }

  get connections(): number {
    return this.#open.size;
  }

  async listen(accept: (channel: Channel<WebSocketContext<Principal>>) => void): Promise<void> {
    if (this.#isClosed || this.#accept) throw new InvalidArgumentError("a listener listens once");
    this.#accept = accept;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#remove(this);
    await Promise.all([...this.#open.values()].map((open) => open.goAway()));
    // A peer that broke a rule may still be in its closing handshake.
    for (const ws of this.#open.keys()) ws.terminate();
  }

  /** The refusal of an upgrade that cannot be taken now; undefined for one that can. */
  refuse(): Answer | undefined {
    const isTaking = this.#accept && !this.#isClosed && this.#open.size < this.#limits.maxConnections;
    return isTaking ? undefined : refuseWith(503, { "retry-after": "1" });
  }

  take({ request, socket, head, context }: AdmittedUpgrade<Principal>): void {
    this.#server.handleUpgrade(request, socket, head, (ws) => {
      const frames = new WsSocket(ws, socket, this.#live);
      const full = { ...context, transport: "websocket" } as const;
      const open = createSocketChannel<WebSocketContext<Principal>>(frames, full, this.#limits, this.#clock);
      this.#open.set(ws, open);
      ws.once("close", () => this.#open.delete(ws));
      callSafely(
        () => this.#accept?.(open.channel),
        (cause) =>
          open.channel.close(
            new HarnessError("handler_failed", "a connection could not be taken", { cause }),
          ),
      );
    });
  }
}
