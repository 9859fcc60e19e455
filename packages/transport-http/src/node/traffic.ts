import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "@harnesskit/wire";
import { refusal } from "../server/answers.ts";
import { type HttpContext, pickHeaders } from "../server/context.ts";
import type { CoreParts } from "../server/handler-options.ts";
import type { Answer } from "../server/request-view.ts";
import { answerClientFault } from "./client-faults.ts";
import { ConnectionSet } from "./connection-set.ts";
import { toNodeHandler } from "./node-handler.ts";
import { hasDoubleHeaders, NodeRequest } from "./node-request.ts";
import { ServedRequest } from "./served-request.ts";
import type { FallbackHandler } from "./server-options.ts";
import { TurnStages } from "./turn-stages.ts";
import { refuseUpgrade } from "./upgrade-answer.ts";
import type { WebSocketEndpoint } from "./web-socket-listener.ts";
import { writeAnswer } from "./write-answer.ts";

export interface TrafficOptions<Principal> {
  readonly fallback: FallbackHandler<Principal> | undefined;
  readonly isRoute: (path: string) => boolean;
  readonly endpoints: ReadonlyMap<string, WebSocketEndpoint<Principal>>;
  readonly keepAliveMs: number;
  readonly clock: Clock;
}

type AdmittedUpgrade<Principal> = {
  readonly endpoint: WebSocketEndpoint<Principal>;
  readonly context: HttpContext<Principal>;
};

/** Everything that comes in at Node's server, led to the rules and back. */
export class Traffic<Principal> {
  readonly connections: ConnectionSet;
  readonly #server: Server;
  readonly #options: TrafficOptions<Principal>;
  readonly #stages: TurnStages<ServedRequest<Principal>>;
  /** Set once the server is bound: some of the rules depend on the port. */
  parts: CoreParts<Principal> | undefined;
  #isClosing = false;

  constructor(server: Server, isTls: boolean, options: TrafficOptions<Principal>) {
    this.#server = server;
    this.#options = options;
    this.#stages = new TurnStages({
      clock: options.clock,
      room: () => this.parts?.core.room ?? 0,
      begin: (served) => this.#safely(served, this.#answer),
      send: (served) => this.#safely(served, this.#send),
    });
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
      this.#takeOver(socket, head, () => refuseUpgrade(socket, refusal(405, { allow: "POST" })));
    });
    server.on("clientError", (error, socket) => {
      answerClientFault(error, socket, this.connections.of(socket));
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

  /** Takes nothing new from now on, and closes each connection once its requests are answered. */
  stop(): void {
    this.#isClosing = true;
  }

  /**
   * What takes a connection over waits for the answers before it. Node reads no more then, and so that the client is seen to go we do: who sends
   * more before `letGo` is cut off, as a client has to wait for its answer (RFC 6455, 4.1).
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
    connection.behindAnswers(() => run(() => socket.off("data", cut)));
  }

  /** Undefined for a request that is not handled: its connection ends before it. */
  #open(
    incoming: IncomingMessage,
    response: ServerResponse,
    beforeBody?: () => void,
  ): ServedRequest<Principal> | undefined {
    const { parts } = this;
    const connection = this.connections.of(incoming.socket);
    if (!parts || !connection) {
      response.destroy();
      return undefined;
    }
    if (connection.isEnding) return undefined;
    if (!response.shouldKeepAlive) connection.isEnding = true;
    return new ServedRequest(parts, connection, incoming, response, beforeBody);
  }

  #serve(incoming: IncomingMessage, response: ServerResponse, beforeBody?: () => void): void {
    const served = this.#open(incoming, response, beforeBody);
    if (served) this.#stages.handle(served);
  }

  /** What fails here fails for one connection. */
  #safely(served: ServedRequest<Principal>, run: (served: ServedRequest<Principal>) => void): void {
    try {
      run(served);
    } catch (error) {
      served.parts.core.tell(error, served.request, "http");
      served.incoming.socket.destroy();
    }
  }

  readonly #answer = (served: ServedRequest<Principal>): void => {
    const { parts, request, incoming } = served;
    request.begin();
    const { fallback, isRoute } = this.#options;
    const { path } = request;
    const isOwn = path === undefined || isRoute(path);
    const refused = this.#refuse(incoming, isOwn);
    if (refused) {
      this.#write(served, parts.core.finish(request, refused));
      return;
    }
    void parts.core.answer(request).then((answer) => {
      if (!fallback || path === undefined || isOwn || answer.status !== 404) this.#write(served, answer);
      else void this.#fallBack(served, fallback, path);
    });
  };

  #refuse(incoming: IncomingMessage, isOwn: boolean): Answer | undefined {
    if (hasDoubleHeaders(incoming)) return refusal(400);
    return this.#isClosing && isOwn ? refusal(503) : undefined;
  }

  /** Hands what is no route's to the fallback. */
  async #fallBack(
    served: ServedRequest<Principal>,
    fallback: FallbackHandler<Principal>,
    path: string,
  ): Promise<void> {
    const { parts, request, incoming, response } = served;
    const { core, guard, contextHeaders } = parts;
    try {
      const admitted = guard.preflight(request) ?? (await core.admit(request, "http", false));
      if (!("principal" in admitted)) {
        this.#write(served, core.finish(request, admitted));
        return;
      }
      const { principal } = admitted;
      const { remoteAddress } = request;
      const headers = pickHeaders(request, contextHeaders);
      const context: HttpContext<Principal> = { transport: "http", path, remoteAddress, principal, headers };
      const serve = async (asked: Request) => {
        const own = await fallback(asked, context);
        const shown = new Headers(own.headers);
        for (const [name, value] of Object.entries(guard.corsHeaders(request))) shown.set(name, value);
        return new Response(own.body, { status: own.status, headers: shown });
      };
      await toNodeHandler(serve, (error) => core.tell(error, request, "http"))(incoming, response);
    } catch (error) {
      core.tell(error, request, "http");
      this.#write(served, core.finish(request, refusal(500)));
    }
  }

  #write(served: ServedRequest<Principal>, answer: Answer): void {
    served.answer = answer;
    served.request.answered();
    this.#stages.answer(served);
  }

  /** Writes the answer, once those before it on its connection are written. */
  readonly #send = (served: ServedRequest<Principal>): void => {
    const { request, response, connection, answer } = served;
    // One whose request still comes is left to Node, as that has to be read.
    const isWaiting = response.socket === null && request.isWhole;
    const leave = isWaiting ? connection.waitInLine(answer?.body?.length ?? 0) : undefined;
    if (!leave) {
      this.#sendNow(served);
      return;
    }
    response.once("socket", () => {
      leave();
      served.runInAsyncScope(() => this.#safely(served, this.#sendNow));
    });
  };

  readonly #sendNow = ({ incoming, response, answer, connection }: ServedRequest<Principal>): void => {
    if (!answer) return;
    const { clock, keepAliveMs } = this.#options;
    // Those behind it on its connection are answered, too: the last of them closes it.
    const isLast = this.#isClosing && connection.underWay === 1;
    const options = { clock, keepAliveMs: isLast ? undefined : keepAliveMs };
    if (writeAnswer(incoming, response, answer, options)) connection.isEnding = true;
  };

  async #upgrade(incoming: IncomingMessage, duplex: Duplex, head: Buffer, letGo: () => void): Promise<void> {
    const socket = duplex as Socket;
    const { parts } = this;
    const connection = this.connections.of(socket);
    if (!parts || !connection) {
      socket.destroy();
      return;
    }
    const request = new NodeRequest(incoming);
    const end = connection.begin(request);
    try {
      const taken = await this.#admitUpgrade(parts, request, incoming);
      if ("status" in taken) refuseUpgrade(socket, parts.core.finish(request, taken));
      else {
        letGo();
        taken.endpoint.take({ request: incoming, socket, head, context: taken.context });
      }
    } catch (error) {
      parts.core.tell(error, request, "websocket");
      refuseUpgrade(socket, parts.core.finish(request, refusal(500)));
    } finally {
      end();
    }
  }

  async #admitUpgrade(
    { core, guard, contextHeaders }: CoreParts<Principal>,
    request: NodeRequest,
    incoming: IncomingMessage,
  ): Promise<Answer | AdmittedUpgrade<Principal>> {
    const { path, remoteAddress } = request;
    if (hasDoubleHeaders(incoming) || path === undefined) return refusal(400);
    const refused = guard.check(request);
    if (refused) return refused;
    const endpoint = this.#options.endpoints.get(path);
    if (!endpoint) return refusal(404);
    const admitted = await core.admit(request, "websocket", endpoint.acceptQueryCredentials);
    if (!("principal" in admitted)) return admitted;
    const busy = this.#isClosing ? refusal(503) : endpoint.refuse(incoming);
    if (busy) return busy;
    const { principal } = admitted;
    const headers = pickHeaders(request, contextHeaders);
    return { endpoint, context: { transport: "websocket", path, remoteAddress, principal, headers } };
  }
}
