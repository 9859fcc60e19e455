import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** What belongs to this user lies outside of every workspace, because nothing in one is to be trusted. */
export const harnessStateDirectory = (env: NodeJS.ProcessEnv = process.env): string => {
  const { XDG_STATE_HOME: state = "" } = env;
  return join(isAbsolute(state) ? state : join(homedir(), ".local", "state"), "harnesskit");
};

/** Where shells keep their conversations. */
export const shellStateDirectory = (env?: NodeJS.ProcessEnv): string =>
  join(harnessStateDirectory(env), "shell");
