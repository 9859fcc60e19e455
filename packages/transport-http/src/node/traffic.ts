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
  readonly #stages: TurnStages;
  /** Set once the server is bound: some of the rules depend on the port. */
  parts: CoreParts<Principal> | undefined;
  #isClosing = false;

  constructor(server: Server, isTls: boolean, options: TrafficOptions<Principal>) {
    this.#server = server;
    this.#options = options;
    this.#stages = new TurnStages(options.clock, () => this.parts?.core.room ?? 0);
    this.connections = new ConnectionSet(server, isTls ? "secureConnection" : "connection");
    server.on("request", (request, response) => this.#serve(request, response));
    server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
      this.#serve(request, response, () => response.writeContinue());
    });
    server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
      this.#write(request, response, { status: 417, headers: {} });
    });
    server.on("connect", (_request: IncomingMessage, socket: Duplex) => {
      refuseUpgrade(socket, refusal(405, { allow: "POST" }));
    });
    server.on("clientError", answerClientFault);
    server.on("tlsClientError", (_error: Error, socket: Duplex) => void socket.destroy());
  }

  /** Without this Node ignores an Upgrade header, as a server may; some clients offer h2c with every request. */
  takeUpgrades(): void {
    if (this.#server.listenerCount("upgrade") > 0) return;
    this.#server.on("upgrade", (request, socket, head) => void this.#upgrade(request, socket, head));
  }

  /** Takes nothing new from now on, and closes each connection once its requests are answered. */
  stop(): void {
    this.#isClosing = true;
  }

  #serve(incoming: IncomingMessage, response: ServerResponse, beforeBody?: () => void): void {
    const { parts } = this;
    if (!parts) {
      response.destroy();
      return;
    }
    const request = new NodeRequest(incoming, response, beforeBody);
    response.on("close", this.connections.begin(incoming.socket, request));
    this.#stages.handle(() => this.#answer(parts, request, incoming, response));
  }

  #answer(
    parts: CoreParts<Principal>,
    request: NodeRequest,
    incoming: IncomingMessage,
    response: ServerResponse,
  ): void {
    request.begin();
    const { fallback, isRoute } = this.#options;
    const { path } = request;
    const isOwn = path === undefined || isRoute(path);
    const refused = this.#refuse(incoming, isOwn);
    if (refused) {
      this.#write(incoming, response, parts.core.finish(request, refused));
      return;
    }
    void parts.core.answer(request).then((answer) => {
      if (!fallback || path === undefined || isOwn || answer.status !== 404)
        this.#write(incoming, response, answer);
      else void this.#fallBack(parts, fallback, request, path, incoming, response);
    });
  }

  #refuse(incoming: IncomingMessage, isOwn: boolean): Answer | undefined {
    if (hasDoubleHeaders(incoming)) return refusal(400);
    return this.#isClosing && isOwn ? refusal(503) : undefined;
  }

  /** Hands what is no route's to the fallback. */
  async #fallBack(
    { core, guard, contextHeaders }: CoreParts<Principal>,
    fallback: FallbackHandler<Principal>,
    request: NodeRequest,
    path: string,
    incoming: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    try {
      const admitted = guard.preflight(request) ?? (await core.admit(request, "http", false));
      if (!("principal" in admitted)) {
        this.#write(incoming, response, core.finish(request, admitted));
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
      this.#write(incoming, response, core.finish(request, refusal(500)));
    }
  }

  #write(incoming: IncomingMessage, response: ServerResponse, answer: Answer): void {
    const { clock, keepAliveMs } = this.#options;
    this.#stages.answer(() =>
      writeAnswer(incoming, response, answer, {
        clock,
        keepAliveMs: this.#isClosing ? undefined : keepAliveMs,
      }),
    );
  }

  async #upgrade(incoming: IncomingMessage, duplex: Duplex, head: Buffer): Promise<void> {
    const socket = duplex as Socket;
    const { parts } = this;
    socket.on("error", () => {});
    if (!parts) {
      socket.destroy();
      return;
    }
    const request = new NodeRequest(incoming);
    const end = this.connections.begin(socket, request);
    try {
      const taken = await this.#admitUpgrade(parts, request, incoming);
      if ("status" in taken) refuseUpgrade(socket, parts.core.finish(request, taken));
      else taken.endpoint.take({ request: incoming, socket, head, context: taken.context });
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
