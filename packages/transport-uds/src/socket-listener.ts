import { createServer, type ListenOptions, type Server, type Socket } from "node:net";
import { reportLostConnections } from "@harnesskit/node-kit";
import {
  type Channel,
  ConnectionClosedError,
  callSafely,
  checkNumber,
  HarnessError,
  InvalidArgumentError,
  type Listener,
  type TransportError,
} from "@harnesskit/wire";

/** A listener on sockets of this machine. */
export interface SocketListener<Context> extends Listener<Context> {
  /** Where it listens: `unix:/path`, `tcp:127.0.0.1:8080`. Undefined before `listen`. */
  readonly endpoint: string | undefined;
  /** Connections at the moment. */
  readonly connections: number;
  /** Connections that were closed at once, because there were too many or the system had no more descriptors. */
  readonly refusedConnections: number;
}

/** An address that a server listens on. */
export interface OpenAddress {
  readonly endpoint: string;
  readonly port?: number;
  /** Gives the address up; the server still listens then. */
  release?(): Promise<void>;
}

export interface SocketListenerParts<Context> {
  readonly maxConnections: number | undefined;
  readonly onError: ((error: TransportError) => void) | undefined;
  /** Binds the server. Connections wait until this settles. */
  readonly open: (server: Server) => Promise<OpenAddress>;
  readonly toChannel: (socket: Socket) => Channel<Context>;
}

/** Begins to listen. Rejects with the operating system's error; the server can then be started again. */
export const startServer = (server: Server, options: ListenOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    const onError = (cause: Error) => {
      server.off("listening", onListening);
      reject(cause);
    };
    const onListening = () => {
      server.off("error", onError);
      resolve();
    };
    server.once("error", onError);
    server.once("listening", onListening);
    // Not shared with other workers of a cluster: each listener is its own.
    server.listen({ ...options, exclusive: true });
  });

/** A listener of what binds and what wraps. The constructor throws `invalid_argument` for an invalid limit. */
export class NetListener<Context> implements SocketListener<Context> {
  readonly #parts: SocketListenerParts<Context>;
  readonly #server: Server;
  readonly #channels = new Set<Channel<Context>>();
  readonly #early = new Set<Socket>();
  #accept: ((channel: Channel<Context>) => void) | undefined;
  #state: "idle" | "open" | "closed" = "idle";
  #opening: Promise<OpenAddress> | undefined;
  #closing: Promise<void> | undefined;
  #address: OpenAddress | undefined;
  #refused = 0;

  constructor(parts: SocketListenerParts<Context>) {
    this.#parts = parts;
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true });
    this.#server.maxConnections = checkNumber("maxConnections", parts.maxConnections ?? 1024);
    this.#server.on("connection", (socket) => this.#connected(socket));
    this.#server.on("drop", () => this.#refused++);
    // While it listens, an error means that one connection could not be accepted.
    this.#server.on("error", () => {
      if (this.#server.listening) this.#refused++;
    });
    reportLostConnections(this.#server, (error) => parts.onError?.(error));
  }

  get endpoint(): string | undefined {
    return this.#address?.endpoint;
  }

  get port(): number | undefined {
    return this.#address?.port;
  }

  get connections(): number {
    return this.#channels.size;
  }

  get refusedConnections(): number {
    return this.#refused;
  }

  async listen(accept: (channel: Channel<Context>) => void): Promise<void> {
    if (this.#state !== "idle") throw new InvalidArgumentError("a listener listens once");
    this.#state = "open";
    this.#opening = this.#parts.open(this.#server);
    try {
      this.#address = await this.#opening;
    } catch (error) {
      this.#state = "closed";
      await this.#stop();
      throw error;
    }
    if (this.#closing !== undefined)
      throw new ConnectionClosedError("the listener was closed while it was opened");
    this.#accept = accept;
    for (const socket of this.#early) this.#handOver(socket, accept);
    this.#early.clear();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#state = "closed";
    try {
      const address = await this.#opening?.catch(() => undefined);
      await address?.release?.();
    } finally {
      await this.#stop();
    }
  }

  async #stop(): Promise<void> {
    const stopped = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#early) socket.destroy();
    await Promise.all([...this.#channels].map((channel) => channel.close()));
    await stopped;
  }

  #connected(socket: Socket): void {
    if (this.#state === "closed") socket.destroy();
    else if (this.#accept) this.#handOver(socket, this.#accept);
    else {
      socket.on("error", () => {});
      this.#early.add(socket);
    }
  }

  #handOver(socket: Socket, accept: (channel: Channel<Context>) => void): void {
    const channel = this.#parts.toChannel(socket);
    this.#channels.add(channel);
    void channel.closed.then(() => this.#channels.delete(channel));
    callSafely(
      () => accept(channel),
      (cause) =>
        channel.close(new HarnessError("handler_failed", "the connection handler failed", { cause })),
    );
  }
}
