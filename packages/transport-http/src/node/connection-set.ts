import type { Server } from "node:http";
import type { Socket } from "node:net";
import { Slots } from "@harnesskit/wire";
import type { NodeRequest } from "./node-request.ts";

/** The connections of a server, and what is under way on each. */
export class ConnectionSet {
  readonly #sockets = new Map<Socket, Slots<NodeRequest>>();
  #refused = 0;
  #isClosing = false;

  constructor(server: Server, event: "connection" | "secureConnection") {
    server.on(event, (socket: Socket) => {
      const requests = new Slots<NodeRequest>();
      this.#sockets.set(socket, requests);
      // Node closes the response that is written, and forgets those behind it.
      socket.once("close", () => {
        this.#sockets.delete(socket);
        for (const request of requests) request.abort();
      });
    });
    server.on("drop", () => this.#refused++);
  }

  get size(): number {
    return this.#sockets.size;
  }

  get refused(): number {
    return this.#refused;
  }

  /** A request of this connection is handled, until the function that is returned is called, once. */
  begin(socket: Socket, request: NodeRequest): () => void {
    const requests = this.#sockets.get(socket);
    const slot = requests?.add(request);
    return () => {
      if (slot !== undefined) requests?.remove(slot);
      if (this.#isClosing && (requests?.size ?? 0) === 0) socket.destroySoon();
    };
  }

  /** Closes the connections on which nothing is handled, and each of the others once its requests are answered. */
  closeIdle(): void {
    this.#isClosing = true;
    for (const [socket, { size }] of this.#sockets) if (size === 0) socket.destroy();
  }

  /** Tells whoever handles a request that nobody waits any longer, and cuts all connections. */
  destroyAll(): void {
    for (const [socket, requests] of this.#sockets) {
      for (const request of requests) request.abort();
      socket.destroy();
    }
  }
}
