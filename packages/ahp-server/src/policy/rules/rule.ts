import type { AhpEventType } from "@harnesskit/protocol/ahp";
import type { Expressions } from "../cel/expressions.ts";
import type { PolicyMode, RuleSource } from "../file/policy-schema.ts";
import type { ProblemList } from "../file/read-policy-file.ts";
import { type Condition, compileCondition } from "./condition.ts";
import { DecisionMaker } from "./decision-maker.ts";

/** A rule that is ready. */
export interface Rule {
  readonly name: string;
  /** Its place among the rules, from 0. */
  readonly index: number;
  readonly mode: PolicyMode;
  readonly condition: Condition;
  readonly decision: DecisionMaker;
}

/** What rules and limits are compiled with. */
export interface CompileParts {
  readonly lists: Readonly<Record<string, readonly string[]>>;
  readonly expressions: Expressions;
  readonly problems: ProblemList;
}

const gates: readonly AhpEventType[] = ["pre_action", "pre_prompt"];

/** What a rule says that has no reason. */
const plainReason = (source: {
  readonly name: string;
  readonly description?: string | undefined;
}): string => {
  const said = source.description?.trim().split("\n", 1)[0];
  // Only a reason is a template.
  return (said || "not allowed by the policy").replaceAll("${", "$${");
};

/** Makes a rule. What is wrong with it goes to the problems. */
export const compileRule = (source: RuleSource, index: number, parts: CompileParts): Rule => {
  const condition = compileCondition({
    ...parts,
    when: source.when,
    path: ["rules", index, "when"],
    defaultTypes: (hasTool) => (hasTool ? ["pre_action"] : gates),
  });
  const decision = new DecisionMaker({
    ...parts,
    source: source.then,
    types: condition.types,
    path: ["rules", index, "then"],
    reason: plainReason(source),
  });
  return { name: source.name, index, mode: source.mode ?? "enforce", condition, decision };
};
