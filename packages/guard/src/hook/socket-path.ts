import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/**
 * Where the guard's socket is by default: `$XDG_STATE_HOME/harnesskit/hub/guard.sock`, with `~/.local/state` where the variable is not
 * set or not absolute.
 */
export const defaultGuardSocket = (
  env: Readonly<Record<string, string | undefined>> = process.env,
): string => {
  const { XDG_STATE_HOME: state = "" } = env;
  return join(
    isAbsolute(state) ? state : join(homedir(), ".local", "state"),
    "harnesskit",
    "hub",
    "guard.sock",
  );
};
