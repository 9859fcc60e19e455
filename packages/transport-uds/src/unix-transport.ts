import { checkNumber, type Transport } from "@harnesskit/wire";
import { unixConnectError } from "./connect-error.ts";
import { openChannel } from "./open-channel.ts";
import { type SocketTransportOptions, socketChannels } from "./socket-channel.ts";
import { toClientPath } from "./socket-path.ts";

/**
 * What is known about the other side of a Unix socket. Node cannot read the peer's user and process ids; the
 * modes of the socket and its directory decide which users can connect.
 */
export interface UnixContext {
  readonly transport: "unix";
  /** The socket's absolute path. */
  readonly path: string;
}

export interface UnixTransportOptions extends SocketTransportOptions {
  /** The path of the server's socket. A relative path starts at the current working directory. */
  readonly path: string;
}

/**
 * Connects to a Unix socket. Throws `path_too_long` and `invalid_argument`. Each `connect` opens a connection of its
 * own; it rejects with `transport_failed`, whose message says what to do, and with `request_cancelled` when its
 * signal aborts. The client trusts the owner of the path's directory: pass one that only the server's user can write.
 */
export const createUnixTransport = (options: UnixTransportOptions): Transport<UnixContext> => {
  const path = toClientPath(options.path);
  const { connectTimeoutMs, clock } = options;
  if (connectTimeoutMs !== undefined) checkNumber("connectTimeoutMs", connectTimeoutMs);
  const toChannel = socketChannels<UnixContext>(options);
  return {
    connect: ({ signal } = {}) =>
      openChannel({
        target: { path },
        endpoint: `unix:${path}`,
        signal,
        connectTimeoutMs,
        clock,
        toChannel: (socket) => toChannel(socket, { transport: "unix", path }),
        toError: (cause) => unixConnectError(path, cause),
      }),
  };
};
