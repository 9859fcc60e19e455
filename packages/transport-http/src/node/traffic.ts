import { AsyncResource } from "node:async_hooks";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { systemErrorCode } from "@harnesskit/node-kit";
import type { Clock } from "@harnesskit/wire";
import { commonHeaders, refuseWith } from "../server/answers.ts";
import type { ExchangeCore } from "../server/exchange-core.ts";
import type { Answer } from "../server/request-view.ts";
import { toNodeHandler } from "./node-handler.ts";
import { hasDoubleHeaders, NodeRequest } from "./node-request.ts";
import type { FallbackHandler } from "./server-options.ts";
import type { WebSocketEndpoint } from "./web-socket-listener.ts";
import { refuseUpgrade, writeAnswer } from "./write-answer.ts";

export interface TrafficOptions<Principal> {
  readonly isTls: boolean;
  readonly fallback: FallbackHandler<Principal> | undefined;
  readonly endpoints: ReadonlyMap<string, WebSocketEndpoint<Principal>>;
  readonly keepAliveMs: number;
  readonly clock: Clock;
}

interface Served {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly request: NodeRequest;
}

const faultStatus = (code: string | undefined): number => {
  if (code === "HPE_HEADER_OVERFLOW") return 431;
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
};

/** Takes the requests and upgrades of Node's server, and sends what the rules answer. */
export class Traffic<Principal> {
  readonly #server: Server;
  readonly #core: ExchangeCore<Principal>;
  readonly #options: TrafficOptions<Principal>;
  /** The connections, each with the requests that are handled on it. */
  readonly #connections = new Map<Duplex, Set<NodeRequest>>();
  /** The same of TCP: of TLS, Node reports a connection as two sockets, and the upper one after its handshake. */
  readonly #sockets = new Set<Socket>();
  /** Connections that close behind a request: nothing that comes after it is handled (RFC 9112, 9.6). */
  readonly #ending = new WeakSet<Duplex>();
  #isClosing = false;
  #answered: { readonly served: Served; readonly answer: Answer }[] = [];

  constructor(server: Server, core: ExchangeCore<Principal>, options: TrafficOptions<Principal>) {
    this.#server = server;
    this.#core = core;
    this.#options = options;
    // Otherwise Node ends its side as soon as the client ends its own, and answers of the same turn are lost.
    (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    server.on(options.isTls ? "secureConnection" : "connection", (socket: Socket) => this.#connected(socket));
    server.on("clientError", (error, socket) => this.#refuseFault(socket, systemErrorCode(error)));
    server.on("request", (request, response) => this.#serve(request, response));
    server.on("connect", (_request: IncomingMessage, socket: Duplex) => {
      this.#takeOver(socket, () => refuseUpgrade(socket, refuseWith(405, { allow: "POST" })));
    });
  }

  /** Connections at the moment. */
  get size(): number {
    return this.#connections.size;
  }

  /** Without this Node ignores an Upgrade header, as a server may; some clients offer h2c with every request. */
  takeUpgrades(): void {
    if (this.#server.listenerCount("upgrade") > 0) return;
    this.#server.on("upgrade", (request, socket, head) => {
      this.#takeOver(socket, (requests) => void this.#upgrade(request, socket as Socket, head, requests));
    });
  }

  /** Refuses new requests from now on, and closes each connection once its requests are answered. */
  stop(): void {
    this.#isClosing = true;
  }

  /** Closes the connections without a request; where none has one, those too whose handshake of TLS is not over. */
  closeIdle(): void {
    const idle = [...this.#connections].filter(([, requests]) => requests.size === 0);
    if (idle.length === this.#connections.size) this.destroyAll();
    else for (const [socket] of idle) socket.destroy();
  }

  /** Aborts all requests and closes all connections at once. */
  destroyAll(): void {
    for (const requests of this.#connections.values()) for (const request of requests) request.abort();
    for (const socket of this.#sockets) socket.destroy();
  }

  #connected(socket: Socket): void {
    const requests = new Set<NodeRequest>();
    this.#connections.set(socket, requests);
    socket.once("close", () => {
      this.#connections.delete(socket);
      // Node closes the response that is being written, and not those that wait behind it.
      for (const request of requests) request.abort();
    });
    // What was received in this turn is answered by then. For what takes longer, a client that ended its side is gone.
    socket.once("end", () =>
      setImmediate(() => {
        if ([...requests].some(({ isOver }) => !isOver)) socket.end();
      }),
    );
  }

  /** Answers what is not a readable request with 400, 408 or 431, unless that could be taken for another answer. */
  #refuseFault(socket: Duplex, code: string | undefined): void {
    const requests = this.#connections.get(socket);
    const isFree = requests !== undefined && [...requests].every((each) => !each.isWhole && !each.isAnswered);
    if (!isFree || code === "ECONNRESET" || !socket.writable) socket.destroy();
    else refuseUpgrade(socket, { status: faultStatus(code), headers: commonHeaders });
  }

  /** Runs what takes a connection over. A client waits for the answers before it (RFC 6455, 4.1). */
  #takeOver(socket: Duplex, run: (requests: Set<NodeRequest>) => void): void {
    const requests = this.#connections.get(socket);
    socket.on("error", () => {});
    if (requests?.size === 0) run(requests);
    else socket.destroy();
  }

  /** Each request runs in an async context of its own: Node has one for all requests of a connection. */
  #serve(incoming: IncomingMessage, response: ServerResponse): void {
    const { socket } = incoming;
    const requests = this.#connections.get(socket);
    if (!requests || this.#ending.has(socket)) return;
    if (!response.shouldKeepAlive) this.#ending.add(socket);
    const request = new NodeRequest(incoming, response);
    requests.add(request);
    response.once("close", () => {
      if (!response.writableFinished) request.abort();
      requests.delete(request);
      if (this.#isClosing && requests.size === 0) socket.destroySoon();
    });
    const served = { incoming, response, request };
    new AsyncResource("HarnessKitRequest").runInAsyncScope(() => void this.#answer(served));
  }

  async #answer(served: Served): Promise<void> {
    const { request, incoming } = served;
    const core = this.#core;
    const { path } = request;
    const isOwn = path === undefined || core.isOwn(path);
    if (hasDoubleHeaders(incoming)) this.#write(served, core.finish(request, refuseWith(400)));
    else if (this.#isClosing && isOwn) this.#write(served, core.finish(request, refuseWith(503)));
    else if (isOwn || !this.#options.fallback || core.guard.check(request))
      this.#send(served, await core.answer(request));
    else await this.#fallBack(served, this.#options.fallback);
  }

  /** Serves a path that is not a route. */
  async #fallBack(served: Served, fallback: FallbackHandler<Principal>): Promise<void> {
    const { request, incoming, response } = served;
    const core = this.#core;
    const { guard } = core;
    try {
      const admitted = guard.preflight(request) ?? (await core.admit(request, "http"));
      if ("status" in admitted) {
        core.refused(request, admitted, "http");
        this.#write(served, core.finish(request, admitted));
        return;
      }
      const serve = async (asked: Request) => {
        const own = await fallback(asked, admitted);
        const shown = new Headers(own.headers);
        for (const [name, value] of Object.entries(guard.corsHeaders(request))) shown.set(name, value);
        return new Response(own.body, { status: own.status, headers: shown });
      };
      await toNodeHandler(serve, (error) => core.tell(error, request, "http"))(incoming, response);
    } catch (error) {
      core.tell(error, request, "http");
      this.#write(served, core.finish(request, refuseWith(500)));
    }
  }

  /** Answers of one turn of the event loop are written together: the receiver's process wakes up once for all. */
  #send(served: Served, answer: Answer): void {
    if (!served.incoming.complete || this.#isClosing) {
      this.#write(served, answer);
      return;
    }
    if (this.#answered.push({ served, answer }) > 1) return;
    setImmediate(() => {
      const answered = this.#answered;
      this.#answered = [];
      for (const { served, answer } of answered) this.#write(served, answer);
    });
  }

  /** A failure here closes this connection only. */
  #write({ request, incoming, response }: Served, answer: Answer): void {
    const { clock, keepAliveMs } = this.#options;
    // The last of those that wait on the connection closes it.
    const isLast = this.#isClosing && this.#connections.get(incoming.socket)?.size === 1;
    try {
      const options = { clock, keepAliveMs: isLast ? undefined : keepAliveMs };
      if (writeAnswer(incoming, response, answer, options)) this.#ending.add(incoming.socket);
    } catch (error) {
      this.#core.tell(error, request, "http");
      incoming.socket.destroy();
    }
  }

  async #upgrade(
    incoming: IncomingMessage,
    socket: Socket,
    head: Buffer,
    requests: Set<NodeRequest>,
  ): Promise<void> {
    const core = this.#core;
    const request = new NodeRequest(incoming);
    requests.add(request);
    try {
      const admitted = await this.#admitUpgrade(request, incoming);
      if ("status" in admitted) {
        core.refused(request, admitted, "websocket");
        refuseUpgrade(socket, core.finish(request, admitted));
      } else admitted.endpoint.take(incoming, socket, head, admitted.context);
    } catch (error) {
      core.tell(error, request, "websocket");
      refuseUpgrade(socket, core.finish(request, refuseWith(500)));
    } finally {
      requests.delete(request);
    }
  }

  /** What takes an upgrade that passes the rules of hosts, origins and credentials; else its refusal. */
  async #admitUpgrade(request: NodeRequest, incoming: IncomingMessage) {
    const { path } = request;
    if (hasDoubleHeaders(incoming) || path === undefined) return refuseWith(400);
    const refused = this.#core.guard.check(request);
    if (refused) return refused;
    const endpoint = this.#options.endpoints.get(path);
    if (!endpoint) return refuseWith(404);
    const context = await this.#core.admit(request, "websocket");
    if ("status" in context) return context;
    return (this.#isClosing ? refuseWith(503) : endpoint.refuse()) ?? { endpoint, context };
  }
}
