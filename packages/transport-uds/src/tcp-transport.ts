import type { Socket } from "node:net";
import { type Transport, TransportError } from "@harnesskit/wire";
import { tcpConnectError } from "./connect-error.ts";
import { assertLoopback, assertPort, isOwnEcho, tcpEndpoint } from "./loopback.ts";
import { checkTcpTransportOptions } from "./option-names.ts";
import type { SocketTransportOptions } from "./socket-channel.ts";
import { socketTransport } from "./socket-transport.ts";

/** What is known about the other side of a TCP connection: its address, but not its user. */
export interface TcpContext {
  readonly transport: "tcp";
  readonly remoteAddress: string;
  readonly remotePort: number;
}

export interface TcpTransportOptions extends SocketTransportOptions {
  /** A loopback address. @default "127.0.0.1" */
  readonly host?: string | undefined;
  /** The port of the server, 1 to 65535. */
  readonly port: number;
}

/** What a connected socket says about its other side; both are unset when that is gone already. */
export const tcpContext = ({ remoteAddress = "", remotePort = 0 }: Socket): TcpContext => ({
  transport: "tcp",
  remoteAddress,
  remotePort,
});

/**
 * Connects to a TCP port of this machine. Throws `not_loopback` for any other address and `invalid_argument`. Each
 * `connect` opens a connection of its own; it rejects with `transport_failed`, whose message says what to do, and
 * with `request_cancelled` when its signal aborts.
 */
export const createTcpTransport = (options: TcpTransportOptions): Transport<TcpContext> => {
  checkTcpTransportOptions(options);
  const { host = "127.0.0.1", port } = options;
  assertLoopback(host);
  assertPort(port, 1);
  const endpoint = tcpEndpoint(host, port);
  return socketTransport<TcpContext>(options, {
    address: { host, port, noDelay: true },
    endpoint,
    contextOf(socket) {
      if (isOwnEcho(socket)) throw new TransportError(`nothing listens on ${endpoint}: start the server`);
      return tcpContext(socket);
    },
    toError: (cause) => tcpConnectError(endpoint, cause),
  });
};
