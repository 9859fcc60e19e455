import { usageError } from "../cli-error.ts";
import { socketPathOf } from "../endpoint.ts";

/** Where a harness is served. */
export interface Places {
  readonly stdio?: true;
  readonly unix?: string;
  /** A port of this machine, for HTTP and WebSocket; 0: a free one. */
  readonly http?: number;
  /** The token of HTTP and WebSocket. @default one is made, and goes with the harness */
  readonly tokenFile?: string;
}

/** Throws a usage error for places that are missing, invalid or in conflict. */
export const checkPlaces = ({ stdio, unix, http, tokenFile }: Places): void => {
  if (!stdio && unix === undefined && http === undefined) {
    throw usageError("Say where to serve", "For example: --stdio, --unix PATH or --http 0");
  }
  if (unix !== undefined) socketPathOf(`unix:${unix}`, "--unix");
  if (tokenFile !== undefined && http === undefined) {
    throw usageError("--token-file belongs to --http", "A socket is guarded by the mode of its file");
  }
};

/** Whether the harness ends with its standard input. */
export const isStdioAlone = ({ stdio, unix, http }: Places): boolean =>
  stdio === true && unix === undefined && http === undefined;
