import { createServer, type Server, type Socket } from "node:net";
import { reportLostConnections } from "@harnesskit/node-kit";
import {
  type Channel,
  ConnectionClosedError,
  callSafely,
  checkNumber,
  defineOptions,
  HarnessError,
  InvalidArgumentError,
  type Listener,
  type TransportError,
} from "@harnesskit/wire";
import { bindUnixSocket } from "./bind-socket.ts";
import { channelOptionNames, type SocketChannelOptions, socketChannels } from "./socket-channel.ts";
import { type SocketPath, toServerPath } from "./socket-path.ts";
import type { UnixContext } from "./unix-transport.ts";

export interface UnixListenerOptions extends SocketChannelOptions {
  /** The path of the socket. A relative path starts at the current working directory. */
  readonly path: string;
  /** Connections at one time; further ones are closed at once. @default 1024 */
  readonly maxConnections?: number | undefined;
  /** Reports that the system gives no more connections, as without file descriptors: once until it gives one. @default no report */
  readonly onError?: ((error: TransportError) => void) | undefined;
}

const checkOptions = defineOptions<UnixListenerOptions>("createUnixListener", {
  ...channelOptionNames,
  path: true,
  maxConnections: false,
  onError: false,
});

/** A listener on a Unix socket. */
export interface UnixListener extends Listener<UnixContext> {
  /** Where it listens: `unix:/path`. Undefined before `listen`. */
  readonly endpoint: string | undefined;
  /** Connections at the moment. */
  readonly connections: number;
}

type Accept = (channel: Channel<UnixContext>) => void;

class SocketListener implements UnixListener {
  readonly #place: SocketPath;
  readonly #toChannel: (socket: Socket) => Channel<UnixContext>;
  readonly #server: Server;
  readonly #channels = new Set<Channel<UnixContext>>();
  #accept: Accept | undefined;
  /** Settles with what gives the path up. */
  #opening: Promise<() => Promise<void>> | undefined;
  #closing: Promise<void> | undefined;
  #isOpen = false;

  constructor(options: UnixListenerOptions) {
    this.#place = toServerPath(options.path);
    this.#toChannel = socketChannels<UnixContext>(options, { transport: "unix", path: this.#place.path });
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
    this.#server.maxConnections = checkNumber("maxConnections", options.maxConnections ?? 1024);
    this.#server.on("connection", (socket) => this.#connected(socket));
    reportLostConnections(this.#server, (error) => options.onError?.(error));
  }

  get endpoint(): string | undefined {
    return this.#isOpen ? `unix:${this.#place.path}` : undefined;
  }

  get connections(): number {
    return this.#channels.size;
  }

  async listen(accept: Accept): Promise<void> {
    if (this.#opening !== undefined || this.#closing !== undefined)
      throw new InvalidArgumentError("a listener listens once");
    this.#accept = accept;
    this.#opening = bindUnixSocket(this.#server, this.#place);
    try {
      await this.#opening;
    } catch (error) {
      await this.#stop();
      throw error;
    }
    if (this.#closing !== undefined)
      throw new ConnectionClosedError("the listener was closed while it was opened");
    this.#isOpen = true;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#accept = undefined;
    try {
      const release = await this.#opening?.catch(() => undefined);
      await release?.();
    } finally {
      await this.#stop();
    }
  }

  async #stop(): Promise<void> {
    const stopped = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await Promise.all([...this.#channels].map((channel) => channel.close()));
    await stopped;
  }

  #connected(socket: Socket): void {
    const accept = this.#accept;
    if (!accept) {
      socket.destroy();
      return;
    }
    const channel = this.#toChannel(socket);
    this.#channels.add(channel);
    void channel.closed.then(() => this.#channels.delete(channel));
    callSafely(
      () => accept(channel),
      (cause) =>
        channel.close(new HarnessError("handler_failed", "the connection handler failed", { cause })),
    );
  }
}

/**
 * Listens on a Unix socket that only this user can reach: mode 0600, in a directory that is made with mode 0700 or
 * must be closed to others already. A socket that a dead server left is taken over, a live one never. Throws
 * `path_too_long` and `invalid_argument`.
 *
 * `listen` rejects with `insecure_directory`, `address_in_use`, `not_a_socket` (nothing else is ever removed) or
 * `transport_failed`. `close` removes the socket if it is still this listener's, and closes its channels.
 */
export const createUnixListener = (options: UnixListenerOptions): UnixListener =>
  new SocketListener(checkOptions(options));
