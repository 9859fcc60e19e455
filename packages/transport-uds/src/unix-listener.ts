import { bindUnixSocket } from "./bind-socket.ts";
import { checkUnixListenerOptions } from "./option-names.ts";
import { type SocketListenerOptions, socketChannels } from "./socket-channel.ts";
import { NetListener, type SocketListener } from "./socket-listener.ts";
import { toServerPath } from "./socket-path.ts";
import type { UnixContext } from "./unix-transport.ts";

export interface UnixListenerOptions extends SocketListenerOptions {
  /** The path of the socket. A relative path starts at the current working directory. */
  readonly path: string;
}

/**
 * Listens on a Unix socket that only this user can reach: mode 0600, in a directory that is made with mode 0700 or
 * must be closed to others already. A socket that a dead server left is taken over, a live one never. Throws
 * `path_too_long` and `invalid_argument`.
 *
 * `listen` rejects with `insecure_directory`, `address_in_use`, `not_a_socket` (nothing else is ever removed) or
 * `transport_failed`. `close` removes the socket if it is still this listener's, and closes its channels.
 */
export const createUnixListener = (options: UnixListenerOptions): SocketListener<UnixContext> => {
  checkUnixListenerOptions(options);
  const place = toServerPath(options.path);
  const toChannel = socketChannels<UnixContext>(options);
  const context: UnixContext = { transport: "unix", path: place.path };
  return new NetListener({
    maxConnections: options.maxConnections,
    onError: options.onError,
    open: (server) => bindUnixSocket(server, place),
    toChannel: (socket) => toChannel(socket, context),
  });
};
