import type { Transport } from "@harnesskit/wire";
import type { SocketTransportOptions } from "./channel-options.ts";
import { unixConnectError } from "./connect-error.ts";
import { assertTimeout, openChannel } from "./open-channel.ts";
import { socketChannels } from "./socket-channel.ts";
import { toClientPath } from "./socket-path.ts";

/**
 * What is known about the other side of a Unix socket. Node cannot read the peer's user and process ids; who may
 * connect is decided by the modes of the socket and its directory.
 */
export interface UnixContext {
  readonly transport: "unix";
  /** The socket's absolute path. */
  readonly path: string;
}

export interface UnixTransportOptions extends SocketTransportOptions {
  /** Where the server's socket lies. A relative path is taken from the working directory of this moment. */
  readonly path: string;
}

/**
 * Connects to a Unix socket. Throws `path_too_long` and `invalid_argument`. Each `connect` opens a connection of its
 * own; it rejects with `transport_failed`, whose message says what to do, and with `request_cancelled` when its
 * signal aborts. The client trusts whoever owns the path's directory: pass one that only the server's user can write.
 */
export const createUnixTransport = (options: UnixTransportOptions): Transport<UnixContext> => {
  const path = toClientPath(options.path);
  const { connectTimeoutMs, clock } = options;
  assertTimeout(connectTimeoutMs);
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
