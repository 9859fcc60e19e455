import { createPatterns } from "./cel/patterns.ts";
import type { PolicyFunction } from "./cel/policy-function.ts";
import { compilePolicy } from "./compile-policy.ts";
import type { ChangesFiles } from "./decide/changes-files.ts";
import { type PolicyFile, PolicyFileSchema } from "./file/policy-schema.ts";
import { PolicySource } from "./file/policy-source.ts";
import { compiledOf, type Policy } from "./policy.ts";
import { type PolicyLimits, policyLimits } from "./policy-limits.ts";

export interface ParsePolicyOptions {
  /** The file's name in errors. @default "policy.yaml" */
  readonly file?: string | undefined;
  /** Functions for expressions, in addition to CEL's own. @default [] */
  readonly functions?: readonly PolicyFunction[] | undefined;
  /** The workspace where neither the event nor the file names one. @default "" */
  readonly workspace?: string | undefined;
  /**
   * Absolute paths of the policy's own files. An action that would change one of them is escalated where the policy would
   * allow it: an agent that may write files must not grant itself the rest. @default []
   */
  readonly ownFiles?: readonly string[] | undefined;
  /**
   * Whether an action may change one of `ownFiles`; `commandJudge` in `@harnesskit/command-judge` has one.
   * @default true for an action with a `command`, and for a `path` that is one of the files or a folder above it
   */
  readonly changesFiles?: ChangesFiles | undefined;
  /** Limits to override. @default each as {@link PolicyLimits} states */
  readonly limits?: Partial<PolicyLimits> | undefined;
  /** A monotonic time in milliseconds, for the deadline of a decision. @default performance.now */
  readonly elapsedMs?: (() => number) | undefined;
}

const listName = /^[A-Za-z_]\w*$/;

const checkNames = (file: PolicyFile, maxRules: number, problems: PolicySource): void => {
  for (const key of ["rules", "limits"] as const) {
    const entries = file[key] ?? [];
    const names = new Set<string>();
    entries.forEach(({ name }, index) => {
      if (names.has(name))
        problems.add([key, index, "name"], `the name ${JSON.stringify(name)} is used twice`);
      names.add(name);
    });
    if (entries.length > maxRules) problems.add([key, maxRules], `more than ${maxRules} ${key}`);
  }
  for (const name of Object.keys(file.lists ?? {})) {
    if (!listName.test(name)) problems.add(["lists", name], "the name of a list has letters, digits and _");
  }
};

/**
 * Reads a policy from YAML and compiles it: expressions are parsed and their types checked, decisions are checked against
 * the events' types. Changes of places that no event has are in the policy's `warnings`. Throws {@link PolicyError} with
 * the line and column of each problem, and `invalid_argument` for limits and functions that are not valid.
 */
export const parsePolicy = (text: string, options: ParsePolicyOptions = {}): Policy => {
  const { file = "policy.yaml" } = options;
  const bounds = policyLimits.resolve(options.limits);
  const problems = new PolicySource(text, file, bounds);
  const value = problems.parse(PolicyFileSchema);
  checkNames(value, bounds.maxRules, problems);
  problems.throwIfAny();
  return compilePolicy(value, { text, file, problems, matches: createPatterns() }, options);
};

/**
 * Reads another text as a policy was read: with the same functions, workspace, own files and limits. Throws like `parsePolicy`.
 */
export const parsePolicyLike = (policy: Policy, text: string): Policy =>
  parsePolicy(text, { ...compiledOf(policy).options, file: policy.file });
