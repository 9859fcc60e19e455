import { isIP } from "node:net";
import { usageError } from "../cli-error.ts";
import { socketPathOf } from "../endpoint.ts";
import { oneLine } from "../terminal/one-line.ts";
import { isLoopbackAddress } from "./remote-host.ts";

/** Where a harness is served. */
export interface Places {
  readonly stdio?: true;
  /** Paths of Unix sockets. */
  readonly unix?: readonly string[];
  /** Ports; 0 for one that is free. */
  readonly http?: readonly number[];
  readonly ws?: readonly number[];
  /** The address of HTTP and WebSocket. @default "127.0.0.1" */
  readonly host?: string;
  readonly tokenFile?: string;
}

export const defaultHost = "127.0.0.1";

/** Throws a usage error for places that are none, or that exclude each other. */
export const checkPlaces = ({
  stdio,
  unix = [],
  http = [],
  ws = [],
  host = defaultHost,
  tokenFile,
}: Places): void => {
  const ports = [...http, ...ws];
  if (!stdio && unix.length === 0 && ports.length === 0) {
    throw usageError("Say where to serve", "For example: --stdio, --unix PATH, --http 0 or --ws 0");
  }
  if (unix.includes("")) throw usageError("--unix: the path is empty");
  for (const path of unix) socketPathOf(`unix:${path}`, "--unix");
  const wanted = ports.filter((port) => port !== 0);
  const twice = wanted.find((port, index) => wanted.indexOf(port) < index);
  if (twice !== undefined) {
    throw usageError(`The port ${twice} is given twice`, "Each of --http and --ws needs a port of its own");
  }
  if (isIP(host) === 0 || host.includes("%")) {
    throw usageError(
      `--host: ${oneLine(host, 200)} is not an address`,
      "For example: 127.0.0.1, ::1 or 0.0.0.0",
    );
  }
  if (host !== defaultHost && ports.length === 0) {
    throw usageError("--host belongs to --http or --ws", "Say where to listen: --http 0");
  }
  if (!isLoopbackAddress(host) && tokenFile === undefined) {
    throw usageError(
      `--host ${host}: other machines can reach it, so that it needs --token-file`,
      "Name a file of your own; the token is made there if the file is missing",
    );
  }
  if (tokenFile !== undefined && ports.length === 0) {
    throw usageError("--token-file belongs to --http or --ws", "A socket is guarded by the mode of its file");
  }
};

/** Whether the harness ends with its standard input. */
export const isStdioAlone = ({ stdio, unix = [], http = [], ws = [] }: Places): boolean =>
  stdio === true && unix.length + http.length + ws.length === 0;
