import type { LimitSource, PolicyMode } from "../file/policy-schema.ts";
import { type CompileParts, type Condition, compileCondition } from "../rules/condition.ts";
import { DecisionMaker } from "../rules/decision-maker.ts";

/** A compiled limit. */
export interface Limit {
  readonly name: string;
  readonly mode: PolicyMode;
  readonly condition: Condition;
  /** What is counted separately, in a fixed order. */
  readonly per: readonly ("session" | "agent" | "tool")[];
  readonly rate: { readonly max: number; readonly windowMs: number } | undefined;
  readonly concurrent: { readonly max: number; readonly expireMs: number } | undefined;
  /** The decision over the limit; undefined: deferred until there is room. */
  readonly decision: DecisionMaker | undefined;
}

const defaultExpireMs = 600_000;
const scopes = ["session", "agent", "tool"] as const;

/** Compiles a limit. Its problems are added to `parts.problems`. */
export const compileLimit = (source: LimitSource, index: number, parts: CompileParts): Limit => {
  const path = ["limits", index];
  const { rate, concurrent, then, per = [] } = source;
  const { problems } = parts;
  const condition = compileCondition(source.when, [...path, "when"], ["pre_action"], parts);
  if (!rate && !concurrent) problems.add(path, "a limit needs a rate or a number of concurrent actions");
  for (const type of condition.types) {
    if (type !== "pre_action" && type !== "pre_prompt")
      problems.add(
        [...path, "when", "event"],
        `a limit applies to pre_action and pre_prompt, not to ${type}`,
      );
    else if (concurrent && type !== "pre_action")
      problems.add(
        [...path, "concurrent"],
        "only pre_action can be concurrent: no other event has an end that is reported",
      );
  }
  const decision =
    then &&
    new DecisionMaker({
      ...parts,
      source: then,
      types: condition.types,
      path: [...path, "then"],
      reason: "over the limit",
    });
  if (decision && !["block", "defer", "escalate"].includes(decision.word))
    problems.add([...path, "then"], "over a limit, the decision must be block, defer or escalate");
  return {
    name: source.name,
    mode: source.mode ?? "enforce",
    condition,
    per: scopes.filter((scope) => per.includes(scope)),
    rate: rate && { max: rate.max, windowMs: rate.window_ms },
    concurrent: concurrent && { max: concurrent.max, expireMs: concurrent.expire_ms ?? defaultExpireMs },
    decision,
  };
};
