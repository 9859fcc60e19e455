import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { systemErrorCode } from "@harnesskit/node-kit";
import { commonHeaders } from "../server/answers.ts";
import type { NodeRequest } from "./node-request.ts";
import { refuseUpgrade } from "./write-answer.ts";

/** How many faults a client may send behind requests that are still handled. */
const maxFaults = 64;

/** A connection of a server, with the requests that are handled on it. */
export class ServerConnection {
  readonly #socket: Socket;
  readonly #requests: NodeRequest[] = [];
  #whenAnswered: (() => void) | undefined;
  #faults = 0;
  #isClosing = false;
  /** It closes behind a request: nothing that comes after that request is handled (RFC 9112, 9.6). */
  isEnding = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    // Node closes the response that is being written, and not those that wait behind it.
    socket.once("close", () => this.#abortAll());
    // What was received in this turn is answered by then. For what takes longer, a client that ended its side is gone.
    socket.once("end", () =>
      setImmediate(() => {
        if (this.#requests.some(({ isOver }) => !isOver)) socket.end();
      }),
    );
  }

  /** A request that was received whole is not answered yet. */
  get isBusy(): boolean {
    return this.#requests.some(({ isWhole }) => isWhole);
  }

  /** How many requests are handled. */
  get size(): number {
    return this.#requests.length;
  }

  /** Adds a request. Call the returned function once, when its response is closed. */
  add(request: NodeRequest): () => void {
    this.#requests.push(request);
    return () => {
      this.#requests.splice(this.#requests.indexOf(request), 1);
      this.#settle();
    };
  }

  /** Calls `run` when all requests that were received whole are answered. Ignored while another call waits. */
  whenAnswered(run: () => void): void {
    if (this.#whenAnswered) return;
    this.#whenAnswered = run;
    this.#settle();
  }

  /**
   * Answers what is not a readable HTTP request with 400, 408 or 431, behind the answers before it, and closes the
   * connection. A request that does not end in time closes it at once while others are handled.
   */
  refuse(error: Error): void {
    const code = systemErrorCode(error);
    this.isEnding = true;
    this.#faults++;
    if ((code === "ERR_HTTP_REQUEST_TIMEOUT" && this.isBusy) || this.#faults > maxFaults) {
      this.#socket.destroy();
      return;
    }
    this.whenAnswered(() => {
      const isAnswered = this.#requests.some((request) => !request.isWhole && request.isAnswered);
      if (isAnswered) this.#socket.end();
      else refuseFault(this.#socket, code);
    });
  }

  /** Closes the connection once its requests are answered. */
  closeWhenIdle(): void {
    this.#isClosing = true;
    if (this.size === 0) this.#socket.destroy();
  }

  /** Aborts the signals of its requests and closes the connection at once. */
  destroy(): void {
    this.#abortAll();
    this.#socket.destroy();
  }

  #abortAll(): void {
    for (const request of this.#requests) request.abort();
  }

  #settle(): void {
    const run = this.#whenAnswered;
    if (run) {
      if (this.isBusy) return;
      this.#whenAnswered = undefined;
      run();
    } else if (this.#isClosing && this.size === 0) this.#socket.destroySoon();
  }
}

const faultStatus = (code: string | undefined): number => {
  if (code === "HPE_HEADER_OVERFLOW") return 431;
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
};

const refuseFault = (socket: Duplex, code: string | undefined): void => {
  if (code === "ECONNRESET" || !socket.writable) socket.destroy();
  else refuseUpgrade(socket, { status: faultStatus(code), headers: commonHeaders });
};

/** A connection by the address of its other side: of TLS, Node reports the one below and the one above as two sockets. */
const remoteOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

/** The connections of a server. */
export class ConnectionSet {
  readonly #connections = new Map<Duplex, ServerConnection>();
  /** Connections whose TLS handshake is not done, which Node's server waits for when it is closed. */
  readonly #handshakes = new Map<string, Socket>();
  #refused = 0;

  constructor(server: Server, event: "connection" | "secureConnection") {
    // Otherwise Node ends its side as soon as the client ends its own, and answers of the same turn are lost.
    (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
    server.on(event, (socket: Socket) => {
      this.#connections.set(socket, new ServerConnection(socket));
      socket.once("close", () => this.#connections.delete(socket));
      this.#handshakes.delete(remoteOf(socket));
    });
    if (event === "secureConnection") {
      server.on("connection", (socket: Socket) => {
        const remote = remoteOf(socket);
        this.#handshakes.set(remote, socket);
        socket.once("close", () => this.#handshakes.delete(remote));
      });
    }
    server.on("drop", () => this.#refused++);
    server.on("clientError", (error, socket) => {
      const connection = this.of(socket);
      if (connection) connection.refuse(error);
      else refuseFault(socket, systemErrorCode(error));
    });
  }

  get size(): number {
    return this.#connections.size;
  }

  get refused(): number {
    return this.#refused;
  }

  /** Undefined for a connection that is closed. */
  of(socket: Duplex): ServerConnection | undefined {
    return this.#connections.get(socket);
  }

  /** Closes idle connections now, and each of the others once its requests are answered. */
  closeIdle(): void {
    for (const socket of this.#handshakes.values()) socket.destroy();
    for (const connection of this.#connections.values()) connection.closeWhenIdle();
  }

  /** Aborts all requests and closes all connections at once. */
  destroyAll(): void {
    for (const connection of this.#connections.values()) connection.destroy();
  }
}
