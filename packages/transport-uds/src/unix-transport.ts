import { lstatSync } from "node:fs";
import { connect } from "node:net";
import { systemErrorCode } from "@harnesskit/node-kit";
import {
  type Channel,
  checkNumber,
  defineOptions,
  displayText,
  type Transport,
  TransportError,
} from "@harnesskit/wire";
import { settleWithin } from "@harnesskit/wire/time";
import { channelOptionNames, type SocketChannelOptions, socketChannels } from "./socket-channel.ts";
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

export interface UnixTransportOptions extends SocketChannelOptions {
  /** The path of the server's socket. A relative path starts at the current working directory. */
  readonly path: string;
  /** How long connecting may take. @default 5000 */
  readonly connectTimeoutMs?: number | undefined;
}

const checkOptions = defineOptions<UnixTransportOptions>("createUnixTransport", {
  ...channelOptionNames,
  path: true,
  connectTimeoutMs: false,
});

const isNoSocket = (path: string): boolean => {
  try {
    // With numbers in place of bigints, Node loads no module behind a link once a socket was found.
    const found = lstatSync(path, { bigint: true });
    return !found.isSocket() && !found.isSymbolicLink();
  } catch {
    return false;
  }
};

/** Why a socket could not be reached, and what to do. */
const reasonOf = (path: string, code: string): string => {
  switch (code) {
    case "ENOENT":
      return "does not exist: start its server or pass the path where it listens";
    case "ECONNREFUSED":
    case "ENOTSOCK":
      return isNoSocket(path)
        ? "is a file of another kind: pass the path where the server listens"
        : "is left over from a server that is gone: start the server again";
    case "EACCES":
    case "EPERM":
      return "may not be used by this user: run as the user whose server it is";
    case "EAGAIN":
      return `takes no more connections at the moment (${code}): try again`;
    default:
      return `cannot be reached (${code})`;
  }
};

/**
 * Connects to a Unix socket. Throws `path_too_long` and `invalid_argument`. Each `connect` opens a connection of its
 * own; it rejects with `transport_failed`, whose message says what to do, and with `request_cancelled` when its
 * signal aborts. The client trusts the owner of the path's directory: pass one that only the server's user can write.
 */
export const createUnixTransport = (options: UnixTransportOptions): Transport<UnixContext> => {
  const { connectTimeoutMs: timeoutMs = 5000, clock } = checkOptions(options);
  checkNumber("connectTimeoutMs", timeoutMs);
  const path = toClientPath(options.path);
  const toChannel = socketChannels<UnixContext>(options, { transport: "unix", path });
  const open = (abort: AbortSignal) =>
    new Promise<Channel<UnixContext>>((resolve, reject) => {
      const socket = connect({ path, allowHalfOpen: true });
      abort.addEventListener("abort", () => socket.destroy(), { once: true });
      const onError = (cause: unknown) => {
        socket.destroy();
        const reason = reasonOf(path, systemErrorCode(cause) ?? "unknown");
        reject(
          new TransportError(`the socket ${displayText(path, { maxLength: 300 })} ${reason}`, { cause }),
        );
      };
      socket.on("error", onError);
      socket.once("connect", () => {
        // At once, so that no byte of the connection is missed.
        const channel = toChannel(socket);
        socket.off("error", onError);
        resolve(channel);
      });
    });
  return {
    async connect({ signal } = {}) {
      const opened = await settleWithin(open, { name: "connect", timeoutMs, signal, clock });
      if (opened.status === "done") return opened.value;
      if (opened.status !== "timed_out") throw opened.error;
      throw new TransportError(`unix:${path} did not answer within ${timeoutMs} ms: is its server stuck?`);
    },
  };
};
