import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { Connection } from "./connection.ts";

/** The connections of a server. */
export class ConnectionSet {
  readonly #connections = new Map<Duplex, Connection>();
  #refused = 0;

  constructor(server: Server, event: "connection" | "secureConnection") {
    // Node would end its side as soon as the client ends its own, and lose the answers of what is handled in the same turn.
    (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
    server.on(event, (socket: Socket) => {
      this.#connections.set(socket, new Connection(socket));
      socket.once("close", () => this.#connections.delete(socket));
    });
    server.on("drop", () => this.#refused++);
  }

  get size(): number {
    return this.#connections.size;
  }

  get refused(): number {
    return this.#refused;
  }

  /** Undefined for one that is closed. */
  of(socket: Duplex): Connection | undefined {
    return this.#connections.get(socket);
  }

  /** Closes the connections on which nothing is handled, and each of the others once its requests are answered. */
  closeIdle(): void {
    for (const connection of this.#connections.values()) connection.closeWhenIdle();
  }

  /** Tells whoever handles a request that nobody waits any longer, and cuts all connections. */
  destroyAll(): void {
    for (const connection of this.#connections.values()) connection.destroy();
  }
}
