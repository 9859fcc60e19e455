import type { Server } from "node:http";
import type { Socket } from "node:net";

/** The connections of a server, and what is under way on each. */
export class ConnectionSet {
  readonly #sockets = new Map<Socket, number>();
  #refused = 0;
  #isClosing = false;

  constructor(server: Server, event: "connection" | "secureConnection") {
    server.on(event, (socket: Socket) => {
      this.#sockets.set(socket, 0);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    server.on("drop", () => this.#refused++);
  }

  get size(): number {
    return this.#sockets.size;
  }

  get refused(): number {
    return this.#refused;
  }

  /** A request of this connection is handled, until `end`. */
  begin(socket: Socket): void {
    this.#sockets.set(socket, (this.#sockets.get(socket) ?? 0) + 1);
  }

  /** One of its requests is not handled any more. */
  end(socket: Socket): void {
    const handled = this.#sockets.get(socket);
    if (handled !== undefined) this.#sockets.set(socket, handled - 1);
    if (this.#isClosing && (handled ?? 1) === 1) socket.destroySoon();
  }

  /** Closes the connections on which nothing is handled, and each of the others once its requests are answered. */
  closeIdle(): void {
    this.#isClosing = true;
    for (const [socket, handled] of this.#sockets) if (handled === 0) socket.destroy();
  }

  destroyAll(): void {
    for (const socket of this.#sockets.keys()) socket.destroy();
  }
}
