import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** Where shells keep their conversations: outside of every workspace, because nothing in one is to be trusted. */
export const shellStateDirectory = (env: NodeJS.ProcessEnv = process.env): string => {
  const { XDG_STATE_HOME: state = "" } = env;
  return join(isAbsolute(state) ? state : join(homedir(), ".local", "state"), "harnesskit", "shell");
};
