import type { Server } from "node:net";
import { systemErrorCode } from "@harnesskit/node-kit";
import { TransportError } from "@harnesskit/wire";
import { AddressInUseError } from "./errors.ts";
import { assertLoopback, assertPort, tcpEndpoint } from "./loopback.ts";
import { checkTcpListenerOptions } from "./option-names.ts";
import { type SocketListenerOptions, socketChannels } from "./socket-channel.ts";
import { NetListener, type OpenAddress, type SocketListener, startServer } from "./socket-listener.ts";
import { type TcpContext, tcpContext } from "./tcp-transport.ts";

export interface TcpListenerOptions extends SocketListenerOptions {
  /** A loopback address. @default "127.0.0.1" */
  readonly host?: string | undefined;
  /** 0 lets the system choose. @default 0 */
  readonly port?: number | undefined;
}

/** A listener on a TCP port of this machine. */
export interface TcpListener extends SocketListener<TcpContext> {
  /** The port it listens on. Undefined before `listen`. */
  readonly port: number | undefined;
}

const listenOn = async (server: Server, host: string, port: number): Promise<OpenAddress> => {
  const endpoint = tcpEndpoint(host, port);
  try {
    await startServer(server, { host, port });
  } catch (cause) {
    const code = systemErrorCode(cause) ?? "unknown";
    if (code === "EADDRINUSE") throw new AddressInUseError(endpoint, { cause });
    const message = `cannot listen on ${endpoint} (${code}): choose another address or port`;
    throw new TransportError(message, { cause });
  }
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : 0;
  return { endpoint: tcpEndpoint(host, bound), port: bound };
};

/**
 * Listens on TCP, on this machine only. Throws `not_loopback` for any other address, and `invalid_argument`. `listen`
 * rejects with `address_in_use` or `transport_failed`. Every user and program of the machine can connect: the protocol
 * above must ask for a secret. Prefer `createUnixListener` where there is a choice.
 */
export const createTcpListener = (options: TcpListenerOptions = {}): TcpListener => {
  checkTcpListenerOptions(options);
  const { host = "127.0.0.1", port = 0, maxConnections } = options;
  assertLoopback(host);
  assertPort(port, 0);
  const toChannel = socketChannels<TcpContext>(options);
  return new NetListener({
    maxConnections,
    onError: options.onError,
    open: (server) => listenOn(server, host, port),
    toChannel: (socket) => toChannel(socket, tcpContext(socket)),
  });
};
