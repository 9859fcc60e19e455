import type { Readable } from "node:stream";

/** What a command is given of the world outside of it. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  /** The working directory. Throws where it does not exist any more. */
  readonly cwd: () => string;
}

/** That of this process. */
export const processIo: Io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  cwd: () => process.cwd(),
};
