import { usageError } from "../cli-error.ts";
import { socketPathOf } from "../endpoint.ts";

/** Where a harness is served. */
export interface Places {
  readonly stdio?: true;
  /** Paths of Unix sockets. */
  readonly unix?: readonly string[];
  /** Ports; 0 for one that is free. */
  readonly http?: readonly number[];
  readonly ws?: readonly number[];
  readonly tokenFile?: string;
}

/** Throws a usage error for places that are none, or that exclude each other. */
export const checkPlaces = ({ stdio, unix = [], http = [], ws = [], tokenFile }: Places): void => {
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
  if (tokenFile !== undefined && ports.length === 0) {
    throw usageError("--token-file belongs to --http or --ws", "A socket is guarded by the mode of its file");
  }
};

/** Whether the harness ends with its standard input. */
export const isStdioAlone = ({ stdio, unix = [], http = [], ws = [] }: Places): boolean =>
  stdio === true && unix.length + http.length + ws.length === 0;
