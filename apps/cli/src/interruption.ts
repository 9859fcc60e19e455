import { isatty } from "node:tty";
import { ExitCode } from "./cli-error.ts";
import { type Io, io } from "./io.ts";
import { isNullDevice } from "./serve/open-stdio.ts";

const failures: Readonly<Record<string, string>> = {
  ENOSPC: "no space is left on the device",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file would be too large",
  EIO: "the device reports an error",
};

interface Interruption {
  exitCode?: ExitCode | undefined;
  lostOutput: boolean;
  closedTerminal: boolean;
  isTerminated: boolean;
}

const interruptions = new WeakMap<Io, Interruption>();

const interruption = (): Interruption => {
  const found = interruptions.get(io()) ?? {
    lostOutput: false,
    closedTerminal: false,
    isTerminated: false,
  };
  interruptions.set(io(), found);
  return found;
};

/** Notes that the command ends because of Ctrl-C: its exit code is 130, unless its output failed before. */
export const noteInterruption = (): void => {
  interruption().exitCode ??= ExitCode.interrupted;
};

/** For a conversation that goes on after Ctrl-C has cancelled a turn. */
export const forgetInterruption = (): void => {
  const state = interruption();
  if (!state.lostOutput) state.exitCode = undefined;
};

/** Whether SIGTERM or SIGHUP has come: a conversation does not go on after these. */
export const isTerminated = (): boolean => interruption().isTerminated;

/** The exit code of a command that was interrupted, or whose output cannot be written; undefined for any other. */
export const interruptedExitCode = (): ExitCode | undefined => interruption().exitCode;

const tolerateClosedTerminal = (state: Interruption): void => {
  const { stdin } = process;
  const setRawMode = stdin.setRawMode.bind(stdin);
  stdin.setRawMode = (mode) => (state.closedTerminal || stdin.readableEnded ? stdin : setRawMode(mode));
};

/**
 * Lets Ctrl-C, a terminal that is closed (SIGHUP), SIGTERM, and standard output that cannot be written any more, end every
 * command in the same order: a command that listens to SIGINT ends its work first, any other ends at once. A reader that is
 * gone is an interruption (130); a full disk is a failure (1) that is reported on stderr.
 */
export const watchInterruption = (): void => {
  const { signals, stdin, stdout, stderr } = io();
  const state = interruption();
  if (isatty(0)) tolerateClosedTerminal(state);
  signals.on("SIGINT", () => {
    // The terminal shows `^C` where the cursor is. Without a reader, or a terminal, this is not Ctrl-C.
    if (stdin.isTTY && !stdin.isRaw && stderr.isTTY && !state.lostOutput) stderr.write("\n");
    if (signals.listenerCount("SIGINT") > 1) return;
    noteInterruption();
    io().exit(state.exitCode);
  });
  for (const signal of ["SIGHUP", "SIGTERM"] as const) {
    signals.on(signal, () => {
      // A command that listens to it itself ends by it; one that has lost its output ends already.
      if (signals.listenerCount(signal) > 1 || state.lostOutput) return;
      state.isTerminated = true;
      if (signal === "SIGHUP") {
        // The end of the input and failed output of a closed terminal are not a second interruption.
        state.lostOutput = true;
        state.closedTerminal = true;
        if (state.exitCode !== undefined) return;
      }
      signals.emit("SIGINT", "SIGINT");
    });
  }
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (state.lostOutput) return;
    state.lostOutput = true;
    if (error.code !== "EPIPE") {
      state.exitCode = ExitCode.failed;
      const why = failures[error.code ?? ""] ?? error.code ?? "unknown error";
      stderr.write(`harness: standard output cannot be written: ${why}\n`);
    }
    signals.emit("SIGINT", "SIGINT");
  });
  // There is no other place to report it.
  stderr.on("error", () => {});
};

/** Ends a command as Ctrl-C does where the reader of standard error is gone, for a command that shows there what it does. */
export const endWithStderr = (): void => {
  const { signals, stderr } = io();
  const state = interruption();
  stderr.once("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE" || state.lostOutput) return;
    state.lostOutput = true;
    signals.emit("SIGINT", "SIGINT");
  });
};

const stopTimeoutMs = 10_000;
const stopSignals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/**
 * Calls `stop` at the first SIGTERM, SIGINT or SIGHUP. A second one, or an end that takes too long, ends the process at once;
 * commands that still run are killed with it. After SIGINT the exit code is 130. SIGHUP is ignored where standard input is the
 * null device, as `nohup` wants it: Node resets the signals that its parent ignores. Returns what takes the handlers away.
 */
export const onStopSignals = (stop: () => void): (() => void) => {
  let deadline: NodeJS.Timeout | undefined;
  const exit = () => io().exit(interruptedExitCode() ?? ExitCode.failed);
  const onSignal = (signal: NodeJS.Signals) => {
    if (signal === "SIGHUP" && isNullDevice()) return;
    if (signal === "SIGINT") noteInterruption();
    if (deadline !== undefined) exit();
    deadline = setTimeout(exit, stopTimeoutMs);
    stop();
  };
  for (const signal of stopSignals) io().signals.on(signal, onSignal);
  return () => {
    clearTimeout(deadline);
    for (const signal of stopSignals) io().signals.off(signal, onSignal);
  };
};

/** What Ctrl-C does: the first cancels the turn, the second ends the command; more change nothing. */
export class Interrupts {
  readonly signal: AbortSignal;
  readonly #abort = new AbortController();
  readonly #onQuit: () => void;
  #count = 0;

  /** @param onQuit called once, at the second Ctrl-C */
  constructor(onQuit: () => void) {
    this.signal = this.#abort.signal;
    this.#onQuit = onQuit;
  }

  listen(): void {
    io().signals.on("SIGINT", this.interrupt);
  }

  readonly interrupt = (): void => {
    noteInterruption();
    this.#count++;
    if (this.#count === 1) this.#abort.abort();
    if (this.#count === 2) this.#onQuit();
  };

  /** Cancels the turn as the first Ctrl-C does; never ends the command. */
  readonly cancel = (): void => {
    if (this.#count === 0) this.interrupt();
  };

  dispose(): void {
    io().signals.off("SIGINT", this.interrupt);
  }
}
