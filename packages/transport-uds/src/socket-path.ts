import { basename, dirname, join, resolve } from "node:path";
import { InvalidArgumentError, TransportError } from "@harnesskit/wire";
import { PathTooLongError } from "./errors.ts";

/** A socket address has 108 bytes for the path on Linux and 104 on macOS and the BSDs; one of them is the NUL. */
const maxPathBytes = process.platform === "linux" ? 107 : 103;

/** Temporary names beside the socket: long enough that two never meet, shorter where the path leaves less room. */
const longestName = 16;
const shortestName = 6;

/** An absolute path that the operating system takes whole. */
export interface SocketPath {
  readonly path: string;
  readonly directory: string;
  /** How many characters a temporary name in the directory may have. */
  readonly temporaryNameLength: number;
}

const bytesOf = (path: string): number => Buffer.byteLength(path);

const absoluteSocket = (path: string): string => {
  if (process.platform === "win32") {
    throw new TransportError(
      "Windows has no Unix sockets that guard themselves: use standard streams or HTTP",
    );
  }
  if (path === "" || path.includes("\0")) {
    throw new InvalidArgumentError("a socket path must not be empty and must not contain NUL");
  }
  return resolve(path);
};

/** The path for a client. Throws `path_too_long` and `invalid_argument`. */
export const toClientPath = (path: string): string => {
  const full = absoluteSocket(path);
  if (bytesOf(full) > maxPathBytes) throw new PathTooLongError(full, bytesOf(full), maxPathBytes);
  return full;
};

/** The path for a server, which needs room for a temporary name beside it. Throws like {@link toClientPath}. */
export const toServerPath = (path: string): SocketPath => {
  const full = toClientPath(path);
  if (basename(full) === "") throw new InvalidArgumentError("a socket path needs a name in a directory");
  const directory = dirname(full);
  const room = maxPathBytes - bytesOf(join(directory, "x")) + 1;
  if (room < shortestName) throw new PathTooLongError(full, maxPathBytes - room + shortestName, maxPathBytes);
  return { path: full, directory, temporaryNameLength: Math.min(room, longestName) };
};
