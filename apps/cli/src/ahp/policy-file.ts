import { homedir } from "node:os";
import { type CommandJudge, commandJudge } from "@harnesskit/command-judge";
import { realPathOf } from "@harnesskit/node-kit";
import { type Policy, PolicyError, type PolicyHarness } from "@harnesskit/policy";
import { defaultPolicyFile, loadPolicy, type PolicyWatch, watchPolicy } from "@harnesskit/policy/node";
import { type CliError, usageError } from "../cli-error.ts";
import { fromHere, io } from "../io.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { policyWarnings, problemLine } from "./event-text.ts";
import type { PolicyFileEvents } from "./policy-server.ts";

/** What policies of this command can call: the judge of shell commands and paths. */
export const policyOptions: CommandJudge = commandJudge({ home: homedir(), realPath: realPathOf });

const maxShown = 10;

/** The file of a policy that was named: `default` is the shipped one. */
export const policyFileOf = (name: string): string =>
  name === "default" ? defaultPolicyFile : fromHere(name);

/** Writes the warnings about a policy to stderr. */
export const sayPolicyWarnings = (policy: Pick<Policy, "file" | "warnings">): void => {
  for (const line of policyWarnings(policy)) createTerminal(io().stderr).say(`harness ahp: ${line}`);
};

/** A broken policy as a usage error that says each place; anything else as it is. */
export const toPolicyFailure = (error: unknown): unknown => {
  if (!PolicyError.isInstance(error)) return error;
  const { code, file, problems } = error;
  const isUnreadable = code === "policy_unreadable";
  const [first = error.message, ...others] = problems
    .slice(0, maxShown)
    // A file that cannot be read has no line.
    .map((problem) => (isUnreadable ? `${file}: ${problem.message}` : problemLine(file, problem)));
  const left = problems.length - maxShown;
  return usageError(first, [
    ...others,
    ...(left > 0 ? [`and ${left} more`] : []),
    ...(isUnreadable ? ["Name a file that is there, or default for the shipped policy"] : []),
  ]);
};

/** Reads the shipped policy. Rejects with a `PolicyError`. */
export const readShippedPolicy = (): Promise<Policy> => loadPolicy(defaultPolicyFile, policyOptions);

/**
 * Reads a policy, for the working directory or another workspace. Rejects with a usage error that has line and column.
 */
export const openPolicy = async (name: string, workspace?: string): Promise<Policy> => {
  if (name === "") throw usageError("--policy: the name of the file is empty");
  try {
    return await loadPolicy(policyFileOf(name), { ...policyOptions, workspace: workspace || undefined });
  } catch (error) {
    throw toPolicyFailure(error) as CliError;
  }
};

/** Puts the file of a policy in force when it changes. */
export const watchPolicyFile = (policy: PolicyHarness, file: string, events: PolicyFileEvents): PolicyWatch =>
  watchPolicy(policy, file, { ...policyOptions, ...events });
