import type { LimitSource, PolicyMode } from "../file/policy-schema.ts";
import { type Condition, compileCondition } from "../rules/condition.ts";
import { DecisionMaker } from "../rules/decision-maker.ts";
import type { CompileParts } from "../rules/rule.ts";

export type LimitScope = "session" | "agent" | "tool";

/** A limit that is ready. */
export interface Limit {
  readonly name: string;
  readonly mode: PolicyMode;
  readonly condition: Condition;
  readonly per: readonly LimitScope[];
  readonly rate: { readonly max: number; readonly windowMs: number } | undefined;
  readonly concurrent: { readonly max: number; readonly expireMs: number } | undefined;
  /** What is decided beyond the limit; undefined: deferred until there is room. */
  readonly decision: DecisionMaker | undefined;
}

const defaultExpireMs = 600_000;
const scopes: readonly LimitScope[] = ["session", "agent", "tool"];

/** Makes a limit. What is wrong with it goes to the problems. */
export const compileLimit = (source: LimitSource, index: number, parts: CompileParts): Limit => {
  const path = ["limits", index];
  const { rate, concurrent, then } = source;
  const { problems } = parts;
  const condition = compileCondition({
    ...parts,
    when: source.when,
    path: [...path, "when"],
    defaultTypes: () => ["pre_action"],
  });
  if (!rate && !concurrent) problems.add(path, "a limit has a rate, or says how many are concurrent");
  for (const type of condition.types) {
    if (type !== "pre_action" && type !== "pre_prompt") {
      problems.add([...path, "when", "event"], `a limit is for pre_action and pre_prompt, not for ${type}`);
    } else if (concurrent && type !== "pre_action") {
      problems.add(
        [...path, "concurrent"],
        "only actions end with an event, so that only pre_action can be concurrent",
      );
    }
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
  if (decision && !["block", "defer", "escalate"].includes(decision.word)) {
    problems.add([...path, "then"], "beyond a limit there is block, defer or escalate");
  }
  const per = typeof source.per === "string" ? [source.per] : (source.per ?? []);
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
