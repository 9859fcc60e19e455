import { isatty } from "node:tty";
import { ExitCode } from "./cli-error.ts";
import { isNullDevice } from "./serve/open-stdio.ts";

const failures: Readonly<Record<string, string>> = {
  ENOSPC: "no space is left on the device",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file would be too large",
  EIO: "the device reports an error",
};

let exitCode: ExitCode | undefined;
let lostOutput = false;
let closedTerminal = false;

/** Notes that the command ends because of Ctrl-C: its exit code is 130, unless its output failed before. */
export const noteInterruption = (): void => {
  exitCode ??= ExitCode.interrupted;
};

/** For a conversation that goes on after Ctrl-C has cancelled a turn. */
export const forgetInterruption = (): void => {
  if (!lostOutput) exitCode = undefined;
};

/** The exit code of a command that was interrupted, or whose output cannot be written; undefined for any other. */
export const interruptedExitCode = (): ExitCode | undefined => exitCode;

const tolerateClosedTerminal = (): void => {
  const { stdin } = process;
  const setRawMode = stdin.setRawMode.bind(stdin);
  stdin.setRawMode = (mode) => (closedTerminal || stdin.readableEnded ? stdin : setRawMode(mode));
};

/**
 * Lets Ctrl-C, a terminal that is closed (SIGHUP), SIGTERM, and standard output that cannot be written any more, end every
 * command in the same order: a command that listens to SIGINT ends its work first, any other ends at once. A reader that is
 * gone is an interruption (130); a full disk is a failure (1) that is reported on stderr.
 */
export const watchInterruption = (): void => {
  if (isatty(0)) tolerateClosedTerminal();
  process.on("SIGINT", () => {
    if (process.listenerCount("SIGINT") > 1) return;
    noteInterruption();
    process.exit(exitCode);
  });
  for (const signal of ["SIGHUP", "SIGTERM"] as const) {
    process.on(signal, () => {
      // A command that listens to it itself ends by it; one that has lost its output ends already.
      if (process.listenerCount(signal) > 1 || lostOutput) return;
      if (signal === "SIGHUP") {
        // The end of the input and failed output of a closed terminal are not a second interruption.
        lostOutput = true;
        closedTerminal = true;
        if (exitCode !== undefined) return;
      }
      process.emit("SIGINT", "SIGINT");
    });
  }
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (lostOutput) return;
    lostOutput = true;
    if (error.code !== "EPIPE") {
      exitCode = ExitCode.failed;
      const why = failures[error.code ?? ""] ?? error.code ?? "unknown error";
      process.stderr.write(`harness: standard output cannot be written: ${why}\n`);
    }
    process.emit("SIGINT", "SIGINT");
  });
  // There is no other place to report it.
  process.stderr.on("error", () => {});
};

/** Ends a command as Ctrl-C does where the reader of standard error is gone, for a command that shows there what it does. */
export const endWithStderr = (): void => {
  process.stderr.once("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE" || lostOutput) return;
    lostOutput = true;
    process.emit("SIGINT", "SIGINT");
  });
};

const stopTimeoutMs = 10_000;
const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/**
 * Calls `stop` at the first SIGTERM, SIGINT or SIGHUP. A second one, or an end that takes too long, ends the process at once;
 * commands that still run are killed with it. After SIGINT the exit code is 130. SIGHUP is ignored where standard input is the
 * null device, as `nohup` wants it: Node resets the signals that its parent ignores. Returns what takes the handlers away.
 */
export const onStopSignals = (stop: () => void): (() => void) => {
  let deadline: NodeJS.Timeout | undefined;
  const exit = () => process.exit(interruptedExitCode() ?? ExitCode.failed);
  const onSignal = (signal: NodeJS.Signals) => {
    if (signal === "SIGHUP" && isNullDevice()) return;
    if (signal === "SIGINT") noteInterruption();
    if (deadline !== undefined) exit();
    deadline = setTimeout(exit, stopTimeoutMs);
    stop();
  };
  for (const signal of signals) process.on(signal, onSignal);
  return () => {
    clearTimeout(deadline);
    for (const signal of signals) process.off(signal, onSignal);
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
    process.on("SIGINT", this.interrupt);
  }

  readonly interrupt = (): void => {
    noteInterruption();
    this.#count++;
    if (this.#count === 1) this.#abort.abort();
    if (this.#count === 2) this.#onQuit();
  };

  dispose(): void {
    process.off("SIGINT", this.interrupt);
  }
}
