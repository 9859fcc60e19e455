import { AsyncResource } from "node:async_hooks";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "@harnesskit/wire";
import { refuseWith } from "../server/answers.ts";
import { type HttpContext, toContext } from "../server/context.ts";
import type { CoreParts } from "../server/handler-options.ts";
import type { Answer } from "../server/request-view.ts";
import { ConnectionSet, type ServerConnection } from "./connection.ts";
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
  readonly parts: CoreParts<Principal>;
  readonly connection: ServerConnection;
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly request: NodeRequest;
}

interface AdmittedUpgrade<Principal> {
  readonly endpoint: WebSocketEndpoint<Principal>;
  readonly context: HttpContext<Principal>;
}

/** Takes the requests, upgrades and tunnels of Node's server, and sends what the rules answer. */
export class Traffic<Principal> {
  readonly connections: ConnectionSet;
  readonly #server: Server;
  readonly #options: TrafficOptions<Principal>;
  /** Set once the server is bound: some of the rules depend on the port. */
  parts: CoreParts<Principal> | undefined;
  #isClosing = false;
  #answered: { readonly served: Served<Principal>; readonly answer: Answer }[] = [];

  constructor(server: Server, isTls: boolean, options: TrafficOptions<Principal>) {
    this.#server = server;
    this.#options = options;
    this.connections = new ConnectionSet(server, isTls ? "secureConnection" : "connection");
    server.on("request", (request, response) => this.#serve(request, response));
    server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
      this.#serve(request, response, () => response.writeContinue());
    });
    server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
      const served = this.#open(request, response);
      if (served) this.#write(served, { status: 417, headers: {} });
    });
    server.on("connect", (_request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.#takeOver(socket, head, () => refuseUpgrade(socket, refuseWith(405, { allow: "POST" })));
    });
    server.on("tlsClientError", (_error: Error, socket: Duplex) => void socket.destroy());
  }

  /** Without this Node ignores an Upgrade header, as a server may; some clients offer h2c with every request. */
  takeUpgrades(): void {
    if (this.#server.listenerCount("upgrade") > 0) return;
    this.#server.on("upgrade", (request, socket, head) => {
      this.#takeOver(socket, head, (letGo) => void this.#upgrade(request, socket, head, letGo));
    });
  }

  /** Refuses new requests from now on, and closes each connection once its requests are answered. */
  stop(): void {
    this.#isClosing = true;
  }

  /**
   * Runs what takes a connection over, behind the answers before it. Node no longer reads the connection then. It is
   * read here, so that its end is seen; a client that sends more before `letGo` is cut off, because a client must wait
   * for its answer (RFC 6455, 4.1).
   */
  #takeOver(socket: Duplex, head: Buffer, run: (letGo: () => void) => void): void {
    socket.on("error", () => {});
    const connection = this.connections.of(socket);
    if (!connection?.isBusy) {
      run(() => {});
      return;
    }
    const cut = () => void socket.destroy();
    if (head.length > 0) cut();
    socket.on("data", cut);
    connection.whenAnswered(() => run(() => socket.off("data", cut)));
  }

  /** Undefined for a request that is not handled: its connection closes before it. */
  #open(
    incoming: IncomingMessage,
    response: ServerResponse,
    beforeBody?: () => void,
  ): Served<Principal> | undefined {
    const { parts } = this;
    const connection = this.connections.of(incoming.socket);
    if (!parts || !connection) {
      response.destroy();
      return undefined;
    }
    if (connection.isEnding) return undefined;
    if (!response.shouldKeepAlive) connection.isEnding = true;
    const request = new NodeRequest(incoming, response, beforeBody);
    const remove = connection.add(request);
    response.once("close", () => {
      if (!response.writableFinished) request.abort();
      remove();
    });
    return { parts, connection, incoming, response, request };
  }

  /** Each request runs in an async context of its own: Node has one for all requests of a connection. */
  #serve(incoming: IncomingMessage, response: ServerResponse, beforeBody?: () => void): void {
    const served = this.#open(incoming, response, beforeBody);
    if (served) new AsyncResource("HarnessKitRequest").runInAsyncScope(() => void this.#answer(served));
  }

  async #answer(served: Served<Principal>): Promise<void> {
    const { parts, request, incoming } = served;
    const { fallback, isRoute } = this.#options;
    const { path } = request;
    const isOwn = path === undefined || isRoute(path);
    if (hasDoubleHeaders(incoming)) this.#write(served, parts.core.finish(request, refuseWith(400)));
    else if (this.#isClosing && isOwn) this.#write(served, parts.core.finish(request, refuseWith(503)));
    else {
      const answer = await parts.core.answer(request);
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
    const { parts, request, incoming, response } = served;
    const { core, guard, contextHeaders } = parts;
    try {
      const admitted = guard.preflight(request) ?? (await core.admit(request, "http", false));
      if (!("principal" in admitted)) {
        core.refused(request, admitted, "http");
        this.#write(served, core.finish(request, admitted));
        return;
      }
      const context = { transport: "http", ...toContext(request, path, admitted, contextHeaders) } as const;
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
    // An answer that may close its connection is not held back: what comes behind it must find it closing.
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
  #write({ parts, request, incoming, response, connection }: Served<Principal>, answer: Answer): void {
    const { clock, keepAliveMs } = this.#options;
    // The last of those that wait on the connection closes it.
    const isLast = this.#isClosing && connection.size === 1;
    try {
      const closes = writeAnswer(incoming, response, answer, {
        clock,
        keepAliveMs: isLast ? undefined : keepAliveMs,
      });
      if (closes) connection.isEnding = true;
    } catch (error) {
      parts.core.tell(error, request, "http");
      incoming.socket.destroy();
    }
  }

  async #upgrade(incoming: IncomingMessage, duplex: Duplex, head: Buffer, letGo: () => void): Promise<void> {
    const socket = duplex as Socket;
    const { parts } = this;
    const connection = this.connections.of(socket);
    if (!parts || !connection) {
      socket.destroy();
      return;
    }
    const request = new NodeRequest(incoming);
    const remove = connection.add(request);
    try {
      const taken = await this.#admitUpgrade(parts, request, incoming);
      if ("status" in taken) {
        parts.core.refused(request, taken, "websocket");
        refuseUpgrade(socket, parts.core.finish(request, taken));
      } else {
        letGo();
        taken.endpoint.take({ request: incoming, socket, head, context: taken.context });
      }
    } catch (error) {
      parts.core.tell(error, request, "websocket");
      refuseUpgrade(socket, parts.core.finish(request, refuseWith(500)));
    } finally {
      remove();
    }
  }

  async #admitUpgrade(
    { core, guard, contextHeaders }: CoreParts<Principal>,
    request: NodeRequest,
    incoming: IncomingMessage,
  ): Promise<Answer | AdmittedUpgrade<Principal>> {
    const { path } = request;
    if (hasDoubleHeaders(incoming) || path === undefined) return refuseWith(400);
    const refused = guard.check(request);
    if (refused) return refused;
    const endpoint = this.#options.endpoints.get(path);
    if (!endpoint) return refuseWith(404);
    const admitted = await core.admit(request, "websocket", endpoint.acceptQueryCredentials);
    if (!("principal" in admitted)) return admitted;
    const busy = this.#isClosing ? refuseWith(503) : endpoint.refuse(incoming);
    if (busy) return busy;
    const context = toContext(request, path, admitted, contextHeaders);
    return { endpoint, context: { transport: "websocket", ...context } };
  }
}
