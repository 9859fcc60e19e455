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
import { assertProtocols, createSocketChannel, type SocketChannel } from "../socket/socket-channel.ts";
import { type WebSocketListenerLimits, webSocketListenerLimits } from "./limits.ts";
import { WsSocket, wsLimits } from "./ws-socket.ts";

export interface WebSocketListenerOptions {
  /** The path that takes WebSockets; it may take posted messages too. */
  readonly path: string;
  /** Names of what is spoken. A client that asks for others only is refused with 400; one that asks for none is taken. @default any */
  readonly protocols?: readonly string[] | undefined;
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
  /** The subprotocol that was chosen. */
  readonly protocol: string | undefined;
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
  readonly #protocols: readonly string[];
  readonly #limits: WebSocketListenerLimits;
  readonly #live;
  readonly #clock: Clock;
  readonly #open = new Map<WebSocket, SocketChannel<WebSocketContext<Principal>>>();
  readonly #remove: (endpoint: WebSocketEndpoint<Principal>) => void;
  #accept: ((channel: Channel<WebSocketContext<Principal>>) => void) | undefined;
  #isClosed = false;

  constructor(options: WebSocketListenerOptions, remove: (endpoint: WebSocketEndpoint<Principal>) => void) {
    const { protocols = [], acceptQueryCredentials = true } = options;
    const { clock = systemClock } = options;
    this.#limits = webSocketListenerLimits.resolve(options.limits);
    assertPath(options.path);
    assertProtocols(protocols);
    this.path = options.path;
    this.acceptQueryCredentials = acceptQueryCredentials;
    this.#protocols = protocols;
    this.#clock = clock;
    this.#live = { ...this.#limits, clock };
    this.#remove = remove;
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      handleProtocols: (offered) => this.#choose(offered) ?? false,
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
  refuse(request: IncomingMessage): Answer | undefined {
    if (!this.#accept || this.#isClosed || this.#open.size >= this.#limits.maxConnections) {
      return refuseWith(503, { "retry-after": "1" });
    }
    const offered = request.headers["sec-websocket-protocol"];
    if (offered === undefined || this.#protocols.length === 0) return undefined;
    const names = new Set(offered.split(",").map((name) => name.trim()));
    return this.#choose(names) === undefined ? refuseWith(400) : undefined;
  }

  take({ request, socket, head, context }: AdmittedUpgrade<Principal>): void {
    this.#server.handleUpgrade(request, socket, head, (ws) => {
      const frames = new WsSocket(ws, socket, this.#live);
      const protocol = ws.protocol === "" ? undefined : ws.protocol;
      const full = { ...context, transport: "websocket", protocol } as const;
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

  #choose(offered: ReadonlySet<string>): string | undefined {
    if (this.#protocols.length > 0) return this.#protocols.find((name) => offered.has(name));
    const [first] = offered;
    return first;
  }
}
