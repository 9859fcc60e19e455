import { AsyncLocalStorage } from "node:async_hooks";
import type { EventEmitter } from "node:events";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type Clock, systemClock } from "@harnesskit/wire";

/** What a command is given of the world outside of it. */
export interface Io {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: NodeJS.ProcessEnv;
  /** The working directory. Throws where it does not exist any more. */
  readonly cwd: () => string;
  /** The user's home directory. */
  readonly home: () => string;
  /** The directory of the built programs: `bin.cjs` and those beside it. */
  readonly programs: string;
  readonly clock: Clock;
  /** Emits `SIGINT`, `SIGTERM` and `SIGHUP`. */
  readonly signals: Pick<EventEmitter, "on" | "off" | "emit" | "listenerCount">;
  /** Ends the command at once, whatever it still does. */
  readonly exit: (code?: number) => void;
}

/** That of this process. */
export const processIo: Io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: () => process.cwd(),
  home: homedir,
  programs: fileURLToPath(new URL(".", import.meta.url)),
  clock: systemClock,
  signals: process,
  exit: (code) => process.exit(code),
};

const current = new AsyncLocalStorage<Io>();

/** What the command that runs was given: that of this process, unless {@link withIo} gave another. */
export const io = (): Io => current.getStore() ?? processIo;

/** Gives `run`, and all that it starts, another world than that of this process. */
export const withIo = <T>(given: Io, run: () => Promise<T>): Promise<T> =>
  given === processIo ? run() : current.run(given, run);

/** The absolute path of a file that the user named. */
export const fromHere = (path: string): string => resolve(io().cwd(), path);
