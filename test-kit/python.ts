import { execFileSync } from "node:child_process";
import type { TestContext } from "vitest";

const without = "this machine has no python3 of version 3.9 or newer";

/** Whether this machine has a Python that the examples and peers run on. */
export const hasPython = ((): boolean => {
  try {
    execFileSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

/** Leaves a test out where there is no Python, and gives the reason. */
export const needPython = ({ skip }: Pick<TestContext, "skip">): void => {
  if (!hasPython) skip(without);
};
