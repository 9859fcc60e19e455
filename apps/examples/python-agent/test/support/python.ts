import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Where the agent is, with its manifest. */
export const agentDirectory = fileURLToPath(new URL("../..", import.meta.url));

export const withoutPython = "this machine has no python3 of version 3.9 or newer";

/** Whether the agent can run here. */
export const hasPython = ((): boolean => {
  try {
    execFileSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();
