import { HarnessError } from "@harnesskit/wire";
import { CliError, usageError } from "../cli-error.ts";
import { ExitCode } from "../exit-code.ts";
import { oneLine } from "../terminal/one-line.ts";
import type { PolicyChoice } from "./policy-choice.ts";

/** Errors of a policy that are shown, each with its line. */
const maxProblems = 5;

/**
 * Reads the policy that the user named, so that one that cannot be used is refused before anything begins, and gives its
 * name; undefined where none was named. Throws a usage error with its lines and columns, and a `CliError`
 * `policy_unreadable`.
 *
 * @param warn is notified of what the policy probably does not mean, in safe lines
 */
export const checkPolicyFile = async (
  choice: PolicyChoice,
  warn: (line: string) => void = () => {},
): Promise<string | undefined> => {
  if (choice.kind !== "child" || choice.policy === "default") return undefined;
  const { loadPolicy } = await import("@harnesskit/ahp-server/policy/node");
  const { policyOptions } = await import("../ahp/policy-options.ts");
  try {
    const policy = await loadPolicy(choice.policy, policyOptions);
    if (policy.warnings.length > 0) {
      const { policyWarnings } = await import("../ahp/policy-file.ts");
      for (const line of policyWarnings(policy)) warn(line);
    }
    return policy.name;
  } catch (error) {
    if (!HarnessError.isInstance(error)) throw error;
    const [first = "it cannot be used", ...others] = error.message.split("\n");
    const lines = [first, ...others].slice(0, maxProblems).map((line) => oneLine(line, 500));
    if (error.code !== "policy_unreadable") throw usageError(`--policy: ${lines.join("\n  ")}`, checkHint);
    throw new CliError(error.code, `--policy: ${lines[0]}`, { exitCode: ExitCode.usage, cause: error });
  }
};

const checkHint = "Look at it: harness ahp check --policy FILE EVENT.json";
