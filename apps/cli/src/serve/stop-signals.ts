import { ExitCode } from "../exit-code.ts";

/** How long an orderly end may take once it was asked for. */
const stopTimeoutMs = 10_000;
const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/**
 * Calls `stop` at the first SIGTERM, SIGINT or SIGHUP. A second one, or an end that takes too long, ends the process at once;
 * commands that still run are killed with it. Returns what takes the handlers away.
 */
export const onStopSignals = (stop: () => void): (() => void) => {
  let deadline: NodeJS.Timeout | undefined;
  const onSignal = () => {
    if (deadline !== undefined) process.exit(ExitCode.failed);
    deadline = setTimeout(() => process.exit(ExitCode.failed), stopTimeoutMs);
    stop();
  };
  for (const signal of signals) process.on(signal, onSignal);
  return () => {
    clearTimeout(deadline);
    for (const signal of signals) process.off(signal, onSignal);
  };
};
