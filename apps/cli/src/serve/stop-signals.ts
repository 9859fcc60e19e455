import { ExitCode } from "../exit-code.ts";
import { interruptedExitCode, noteInterruption } from "../interruption.ts";
import { isNullDevice } from "./open-stdio.ts";

/** How long an orderly end may take once it was asked for. */
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
