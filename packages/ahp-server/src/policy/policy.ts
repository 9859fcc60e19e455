import type { AhpEventType } from "@harnesskit/protocol/ahp";
import type { Expressions } from "./cel/expressions.ts";
import type { ChangesFiles } from "./decide/changes-files.ts";
import type { PolicyMode } from "./file/policy-schema.ts";
import type { Limit } from "./limits/limit.ts";
import type { PolicyProblem } from "./policy-error.ts";
import type { ResolvedPolicyLimits } from "./policy-limits.ts";
import type { DecisionMaker } from "./rules/decision-maker.ts";
import type { Rule } from "./rules/rule.ts";
import type { RuleIndex } from "./rules/rule-index.ts";

/** The parts of a policy that decide; for this package only. */
export interface PolicyParts {
  readonly rules: readonly Rule[];
  readonly index: RuleIndex<Rule>;
  readonly limits: readonly Limit[];
  readonly limitIndex: RuleIndex<Limit>;
  readonly defaults: ReadonlyMap<AhpEventType, DecisionMaker>;
  readonly expressions: Expressions;
  readonly bounds: ResolvedPolicyLimits;
  readonly workspace: string;
  /** Absolute paths of the files that it was read from. */
  readonly ownFiles: readonly string[];
  readonly changesFiles: ChangesFiles;
  /** The text that it was read from. */
  readonly text: string;
}

const partsOfPolicies = new WeakMap<Policy, PolicyParts>();

/** A policy that was read and is ready to decide. It does not change. Made by `parsePolicy`. */
export class Policy {
  /** What the file calls it, else the file's name. */
  readonly name: string;
  /** What its errors name as the file. */
  readonly file: string;
  readonly mode: PolicyMode;
  /** The names of its rules, in order. */
  readonly rules: readonly string[];
  /** The names of its limits, in order. */
  readonly limits: readonly string[];
  /** What is probably not meant, such as a `set` of a place that no event has. The policy can be used. */
  readonly warnings: readonly PolicyProblem[];
  /** Types of events that a rule or a default of the file decides, and those that every policy decides. */
  readonly decides: readonly AhpEventType[];

  /** @internal */
  constructor(about: Pick<Policy, "name" | "file" | "mode" | "decides" | "warnings">, parts: PolicyParts) {
    this.name = about.name;
    this.file = about.file;
    this.mode = about.mode;
    this.decides = about.decides;
    this.warnings = about.warnings;
    this.rules = parts.rules.map(({ name }) => name);
    this.limits = parts.limits.map(({ name }) => name);
    partsOfPolicies.set(this, parts);
  }
}

/** Whether two policies were read from the same text. */
export const isSamePolicy = (a: Policy, b: Policy): boolean => partsOf(a).text === partsOf(b).text;

export const partsOf = (policy: Policy): PolicyParts => partsOfPolicies.get(policy) as PolicyParts;
