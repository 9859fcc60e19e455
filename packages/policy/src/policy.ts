import type { AhpEventType } from "@harnesskit/protocol/ahp";
import type { Expressions } from "./cel/expressions.ts";
import type { ChangesFiles } from "./decide/changes-files.ts";
import type { PolicyFile, PolicyMode } from "./file/policy-schema.ts";
import type { Limit } from "./limits/limit.ts";
import type { ParsePolicyOptions } from "./parse-policy.ts";
import type { PolicyProblem } from "./policy-error.ts";
import type { PolicyLimits } from "./policy-limits.ts";
import type { Candidates } from "./rules/candidates.ts";
import type { DecisionMaker } from "./rules/decision-maker.ts";
import type { Rule } from "./rules/rule.ts";

/** The compiled parts of a policy; internal to this package. */
export interface PolicyParts {
  /** What the file says. */
  readonly value: PolicyFile;
  readonly rules: Candidates<Rule>;
  readonly limits: Candidates<Limit>;
  readonly allLimits: readonly Limit[];
  readonly defaults: ReadonlyMap<AhpEventType, DecisionMaker>;
  readonly expressions: Expressions;
  readonly bounds: PolicyLimits;
  readonly workspace: string;
  /** Absolute paths of the files that it was read from. */
  readonly ownFiles: readonly string[];
  readonly changesFiles: ChangesFiles;
  /** What it was compiled with. */
  readonly options: ParsePolicyOptions;
}

/** A compiled policy. It does not change. Made by `parsePolicy`. */
export interface Policy {
  /** The name in the file, else the file's name. */
  readonly name: string;
  /** The file as errors name it. */
  readonly file: string;
  /** The YAML that it was read from. */
  readonly text: string;
  readonly mode: PolicyMode;
  /** The names of its rules, in order. */
  readonly rules: readonly string[];
  /** The names of its limits, in order. */
  readonly limits: readonly string[];
  /** Probable mistakes, such as a `set` of a place that no event has. The policy can be used. */
  readonly warnings: readonly PolicyProblem[];
  /** Types of events that a rule or a default of the file decides, and those that every policy decides. */
  readonly decides: readonly AhpEventType[];
}

const partsOfPolicies = new WeakMap<Policy, PolicyParts>();

export const createPolicy = (policy: Policy, parts: PolicyParts): Policy => {
  partsOfPolicies.set(policy, parts);
  return Object.freeze(policy);
};

/** The parts of a policy that `parsePolicy` made. */
export const compiledOf = (policy: Policy): PolicyParts => partsOfPolicies.get(policy) as PolicyParts;
