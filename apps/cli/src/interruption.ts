import { isatty } from "node:tty";
import { ExitCode } from "./exit-code.ts";

/** Why output cannot be written, other than that its reader is gone. */
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

/** Makes the end of a question at a terminal that is closed no error: its raw mode cannot be changed any more. */
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
        // The end of the input and failed output of a closed terminal are no second interruption.
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
