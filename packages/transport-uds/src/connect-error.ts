import { lstatSync } from "node:fs";
import { systemErrorCode } from "@harnesskit/node-kit";
import { displayText, TransportError } from "@harnesskit/wire";

const isNoSocket = (path: string): boolean => {
  try {
    // With numbers in place of bigints, Node loads no module behind a link once a socket was found.
    const found = lstatSync(path, { bigint: true });
    return !found.isSocket() && !found.isSymbolicLink();
  } catch {
    return false;
  }
};

const unixSentence = (path: string, code: string): string => {
  const socket = `the socket ${displayText(path, { maxLength: 300 })}`;
  switch (code) {
    case "ENOENT":
      return `${socket} does not exist: start its server or pass the path where it listens`;
    case "ECONNREFUSED":
    case "ENOTSOCK":
      if (isNoSocket(path))
        return `${socket} is a file of another kind: pass the path where the server listens`;
      return `${socket} is left over from a server that is gone: start the server again`;
    case "EACCES":
    case "EPERM":
      return `${socket} may not be used by this user: run as the user whose server it is`;
    case "EAGAIN":
      return `${socket} takes no more connections at the moment (${code}): try again`;
    default:
      return `${socket} cannot be reached (${code})`;
  }
};

const tcpSentence = (endpoint: string, code: string): string => {
  if (code === "ECONNREFUSED") return `nothing listens on ${endpoint}: start the server or pass its port`;
  if (code === "EADDRNOTAVAIL") return `${endpoint} does not exist on this machine: use 127.0.0.1 or ::1`;
  return `${endpoint} cannot be reached (${code})`;
};

/** Says why a Unix socket could not be reached and what to do. */
export const unixConnectError = (path: string, cause: unknown): TransportError =>
  new TransportError(unixSentence(path, systemErrorCode(cause) ?? "unknown"), { cause });

/** Says why a TCP port could not be reached and what to do. */
export const tcpConnectError = (endpoint: string, cause: unknown): TransportError =>
  new TransportError(tcpSentence(endpoint, systemErrorCode(cause) ?? "unknown"), { cause });
