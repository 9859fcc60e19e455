import type { AhpEventType } from "@harnesskit/protocol/ahp";
import type { PolicyMode, RuleSource } from "../file/policy-schema.ts";
import { type CompileParts, type Condition, compileCondition } from "./condition.ts";
import { DecisionMaker } from "./decision-maker.ts";

/** A compiled rule. */
export interface Rule {
  readonly name: string;
  readonly mode: PolicyMode;
  readonly condition: Condition;
  readonly decision: DecisionMaker;
  /** Its conditions speak of the further requests to the model within a turn: only then it asks a human about one, or changes it. */
  readonly namesRequests: boolean;
}

const gates: readonly AhpEventType[] = ["pre_action", "pre_prompt"];

/** The reason of a rule that states none. It is a template, so `${` is escaped. */
const defaultReason = ({ description }: RuleSource): string => {
  const firstLine = description?.trim().split("\n", 1)[0];
  return (firstLine || "not allowed by the policy").replaceAll("${", "$${");
};

/** Compiles a rule. Its problems are added to `parts.problems`. */
export const compileRule = (source: RuleSource, index: number, parts: CompileParts): Rule => {
  const path = ["rules", index];
  const namesTool = source.when?.tool !== undefined || source.when?.action !== undefined;
  const defaultTypes = namesTool ? gates.slice(0, 1) : gates;
  const condition = compileCondition(source.when, [...path, "when"], defaultTypes, parts);
  const decision = new DecisionMaker({
    ...parts,
    source: source.then,
    types: condition.types,
    path: [...path, "then"],
    reason: defaultReason(source),
  });
  const namesRequests = /\bpayload\s*\.\s*(?:step|added)\b/.test([source.when?.cel].flat().join(" "));
  return { name: source.name, mode: source.mode ?? "enforce", condition, decision, namesRequests };
};
