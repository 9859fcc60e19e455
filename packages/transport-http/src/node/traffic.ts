import { AsyncResource } from "node:async_hooks";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { systemErrorCode } from "@harnesskit/node-kit";
import type { Clock } from "@harnesskit/wire";
import { commonHeaders, refuseWith } from "../server/answers.ts";
import type { HttpContext } from "../server/context.ts";
import type { ExchangeCore } from "../server/exchange-core.ts";
import type { Answer } from "../server/request-view.ts";
import { toNodeHandler } from "./node-handler.ts";
import { hasDoubleHeaders, NodeRequest } from "./node-request.ts";
import type { FallbackHandler } from "./server-options.ts";
import type { WebSocketEndpoint } from "./web-socket-listener.ts";
import { refuseUpgrade, writeAnswer } from "./write-answer.ts";

export interface TrafficOptions<Principal> {
  readonly fallback: FallbackHandler<Principal> | undefined;
  readonly isRoute: (path: string) => boolean;
  readonly endpoints: ReadonlyMap<string, WebSocketEndpoint<Principal>>;
  readonly keepAliveMs: number;
  readonly clock: Clock;
}

interface Served<Principal> {
  readonly core: ExchangeCore<Principal>;
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly request: NodeRequest;
}

interface AdmittedUpgrade<Principal> {
  readonly endpoint: WebSocketEndpoint<Principal>;
  readonly context: HttpContext<Principal>;
}

const faultStatus = (code: string | undefined): number => {
  if (code === "HPE_HEADER_OVERFLOW") return 431;
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
};

/** The other side of a connection: of TLS, its two sockets have the same. */
const remoteOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

/** Takes the requests and upgrades of Node's server, and sends what the rules answer. */
export class Traffic<Principal> {
  readonly #server: Server;
  readonly #options: TrafficOptions<Principal>;
  /** The connections, each with the requests that are handled on it. */
  readonly #connections = new Map<Duplex, Set<NodeRequest>>();
  /** The same of TCP: of TLS, Node reports a connection as two sockets, and the upper one after its handshake. */
  readonly #sockets = new Set<Socket>();
  /** The TCP sockets whose handshake of TLS is not over. */
  readonly #handshakes = new Map<string, Socket>();
  /** Set once the server is bound: some of the rules depend on the port. */
  core: ExchangeCore<Principal> | undefined;
  /** Connections that close behind a request: nothing that comes after it is handled (RFC 9112, 9.6). */
  readonly #ending = new WeakSet<Duplex>();
  #isClosing = false;
  #answered: { readonly served: Served<Principal>; readonly answer: Answer }[] = [];

  constructor(server: Server, isTls: boolean, options: TrafficOptions<Principal>) {
    this.#server = server;
    this.#options = options;
    // Otherwise Node ends its side as soon as the client ends its own, and answers of the same turn are lost.
    (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      if (!isTls) return;
      const remote = remoteOf(socket);
      this.#handshakes.set(remote, socket);
      socket.once("close", () => this.#handshakes.delete(remote));
    });
    server.on(isTls ? "secureConnection" : "connection", (socket: Socket) => this.#connected(socket));
    server.on("clientError", (error, socket) => this.#refuseFault(socket, systemErrorCode(error)));
    server.on("request", (request, response) => this.#serve(request, response));
    server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
      this.#serve(request, response, () => response.writeContinue());
    });
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
      this.#takeOver(socket, () => void this.#upgrade(request, socket as Socket, head));
    });
  }

  /** Refuses new requests from now on, and closes each connection once its requests are answered. */
  stop(): void {
    this.#isClosing = true;
  }

  /** Closes the connections without a request, and those whose handshake of TLS is not over. */
  closeIdle(): void {
    for (const [socket, requests] of this.#connections) if (requests.size === 0) socket.destroy();
    for (const socket of this.#handshakes.values()) socket.destroy();
  }

  /** Aborts all requests and closes all connections at once. */
  destroyAll(): void {
    for (const requests of this.#connections.values()) for (const request of requests) request.abort();
    for (const socket of this.#sockets) socket.destroy();
  }

  #connected(socket: Socket): void {
    this.#handshakes.delete(remoteOf(socket));
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
  #takeOver(socket: Duplex, run: () => void): void {
    socket.on("error", () => {});
    if (this.#connections.get(socket)?.size === 0) run();
    else socket.destroy();
  }

  /** Each request runs in an async context of its own: Node has one for all requests of a connection. */
  #serve(incoming: IncomingMessage, response: ServerResponse, beforeBody?: () => void): void {
    const { core } = this;
    const { socket } = incoming;
    const requests = this.#connections.get(socket);
    if (!core || !requests) {
      response.destroy();
      return;
    }
    if (this.#ending.has(socket)) return;
    if (!response.shouldKeepAlive) this.#ending.add(socket);
    const request = new NodeRequest(incoming, response, beforeBody);
    requests.add(request);
    response.once("close", () => {
      if (!response.writableFinished) request.abort();
      requests.delete(request);
      if (this.#isClosing && requests.size === 0) socket.destroySoon();
    });
    const served = { core, incoming, response, request };
    new AsyncResource("HarnessKitRequest").runInAsyncScope(() => void this.#answer(served));
  }

  async #answer(served: Served<Principal>): Promise<void> {
    const { core, request, incoming } = served;
    const { fallback, isRoute } = this.#options;
    const { path } = request;
    const isOwn = path === undefined || isRoute(path);
    if (hasDoubleHeaders(incoming)) this.#write(served, core.finish(request, refuseWith(400)));
    else if (this.#isClosing && isOwn) this.#write(served, core.finish(request, refuseWith(503)));
    else {
      const answer = await core.answer(request);
      if (!fallback || isOwn || answer.status !== 404) this.#send(served, answer);
      else await this.#fallBack(served, fallback, path);
    }
  }

  /** Serves a path that is not a route. */
  async #fallBack(
    served: Served<Principal>,
    fallback: FallbackHandler<Principal>,
    path: string,
  ): Promise<void> {
    const { core, request, incoming, response } = served;
    const { guard } = core;
    try {
      const admitted = guard.preflight(request) ?? (await core.admit(request, "http", false));
      if (!("principal" in admitted)) {
        core.refused(request, admitted, "http");
        this.#write(served, core.finish(request, admitted));
        return;
      }
      const context = { transport: "http", ...core.contextOf(request, path, admitted) } as const;
      const serve = async (asked: Request) => {
        const own = await fallback(asked, context);
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
  #send(served: Served<Principal>, answer: Answer): void {
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
  #write({ core, request, incoming, response }: Served<Principal>, answer: Answer): void {
    const { clock, keepAliveMs } = this.#options;
    // The last of those that wait on the connection closes it.
    const isLast = this.#isClosing && this.#connections.get(incoming.socket)?.size === 1;
    try {
      const options = { clock, keepAliveMs: isLast ? undefined : keepAliveMs };
      if (writeAnswer(incoming, response, answer, options)) this.#ending.add(incoming.socket);
    } catch (error) {
      core.tell(error, request, "http");
      incoming.socket.destroy();
    }
  }

  async #upgrade(incoming: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const { core } = this;
    const requests = this.#connections.get(socket);
    if (!core || !requests) {
      socket.destroy();
      return;
    }
    const request = new NodeRequest(incoming);
    requests.add(request);
    try {
      const taken = await this.#admitUpgrade(core, request, incoming);
      if ("status" in taken) {
        core.refused(request, taken, "websocket");
        refuseUpgrade(socket, core.finish(request, taken));
      } else taken.endpoint.take({ request: incoming, socket, head, context: taken.context });
    } catch (error) {
      core.tell(error, request, "websocket");
      refuseUpgrade(socket, core.finish(request, refuseWith(500)));
    } finally {
      requests.delete(request);
    }
  }

  async #admitUpgrade(
    core: ExchangeCore<Principal>,
    request: NodeRequest,
    incoming: IncomingMessage,
  ): Promise<Answer | AdmittedUpgrade<Principal>> {
    const { path } = request;
    if (hasDoubleHeaders(incoming) || path === undefined) return refuseWith(400);
    const refused = core.guard.check(request);
    if (refused) return refused;
    const endpoint = this.#options.endpoints.get(path);
    if (!endpoint) return refuseWith(404);
    const admitted = await core.admit(request, "websocket", endpoint.acceptQueryCredentials);
    if (!("principal" in admitted)) return admitted;
    const busy = this.#isClosing ? refuseWith(503) : endpoint.refuse();
    if (busy) return busy;
    const context = core.contextOf(request, path, admitted);
    return { endpoint, context: { transport: "websocket", ...context } };
  }
}
