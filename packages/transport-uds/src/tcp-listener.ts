import type { Server } from "node:net";
import { systemErrorCode } from "@harnesskit/node-kit";
import { TransportError } from "@harnesskit/wire";
import type { SocketListenerOptions } from "./channel-options.ts";
import { AddressInUseError } from "./errors.ts";
import { assertLoopback, assertPort, tcpEndpoint } from "./loopback.ts";
import { socketChannels } from "./socket-channel.ts";
import { createSocketListener, type OpenAddress, type SocketListener } from "./socket-listener.ts";
import { startServer } from "./start-server.ts";
import { type TcpContext, tcpContext } from "./tcp-transport.ts";

export interface TcpListenerOptions extends SocketListenerOptions {
  /** A loopback address. @default "127.0.0.1" */
  readonly host?: string;
  /** 0 lets the system choose. @default 0 */
  readonly port?: number;
}

/** A listener on a TCP port of this machine. */
export interface TcpListener extends SocketListener<TcpContext> {
  /** The port it listens on. Undefined before `listen`. */
  readonly port: number | undefined;
}

const portOf = (server: Server): number => {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
};

const bindError = (endpoint: string, cause: unknown): AddressInUseError | TransportError => {
  const code = systemErrorCode(cause) ?? "unknown";
  if (code === "EADDRINUSE") return new AddressInUseError(endpoint, { cause });
  return new TransportError(`${endpoint} cannot be listened on (${code}): choose another address or port`, {
    cause,
  });
};

/**
 * Listens on TCP, on this machine only. Throws `not_loopback` for any other address, and `invalid_argument`. `listen`
 * rejects with `address_in_use` or `transport_failed`. Every user and program of the machine can connect: what speaks
 * over it has to ask for a secret. Prefer `createUnixListener` where there is a choice.
 */
export const createTcpListener = (options: TcpListenerOptions = {}): TcpListener => {
  const { host = "127.0.0.1", port = 0, maxConnections = 1024 } = options;
  assertLoopback(host);
  assertPort(port, 0);
  const toChannel = socketChannels<TcpContext>(options);
  let boundPort: number | undefined;
  const open = async (server: Server): Promise<OpenAddress> => {
    try {
      await startServer(server, { host, port });
    } catch (cause) {
      throw bindError(tcpEndpoint(host, port), cause);
    }
    boundPort = portOf(server);
    return { endpoint: tcpEndpoint(host, boundPort), release: async () => {} };
  };
  const listener = createSocketListener({
    maxConnections,
    open,
    toChannel: (socket) => toChannel(socket, tcpContext(socket)),
  });
  return {
    listen: (accept) => listener.listen(accept),
    close: () => listener.close(),
    get endpoint() {
      return listener.endpoint;
    },
    get port() {
      return boundPort;
    },
    get connections() {
      return listener.connections;
    },
    get refusedConnections() {
      return listener.refusedConnections;
    },
  };
};
