import type { Transport } from "@harnesskit/wire";
import { unixConnectError } from "./connect-error.ts";
import { checkUnixTransportOptions } from "./option-names.ts";
import type { SocketTransportOptions } from "./socket-channel.ts";
import { toClientPath } from "./socket-path.ts";
import { socketTransport } from "./socket-transport.ts";

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
  checkUnixTransportOptions(options);
  const path = toClientPath(options.path);
  return socketTransport<UnixContext>(options, {
    address: { path },
    endpoint: `unix:${path}`,
    contextOf: () => ({ transport: "unix", path }),
    toError: (cause) => unixConnectError(path, cause),
  });
};
