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

  /** A request of this connection is handled until the returned function is called. */
  begin(socket: Socket): () => void {
    this.#sockets.set(socket, (this.#sockets.get(socket) ?? 0) + 1);
    return () => {
      const left = (this.#sockets.get(socket) ?? 1) - 1;
      if (this.#sockets.has(socket)) this.#sockets.set(socket, left);
      if (this.#isClosing && left === 0) socket.destroySoon();
    };
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
