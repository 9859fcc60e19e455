import { canonicalJson } from "@harnesskit/wire";
import { decide } from "../decide/decide.ts";
import type { Explanation } from "../decide/explanation.ts";
import { LimitStore } from "../limits/limit-store.ts";
import { compiledOf, type Policy } from "../policy.ts";
import type { PolicyProblem } from "../policy-error.ts";
import { eventOfCase, type PolicyCase } from "./policy-cases.ts";

export interface CaseResult {
  readonly name: string;
  readonly passed: boolean;
  /** What differs from what was expected; empty where it passed. */
  readonly problems: readonly string[];
  readonly explanation: Explanation;
}

/** How often each rule and limit decided, and which were never asked for. */
export interface RuleCoverage {
  readonly decisions: ReadonlyMap<string, number>;
  /** Those that neither decided nor failed in any case. */
  readonly uncovered: readonly string[];
  /** Rules and limits that decided or failed, of all; 1 for a policy without any. */
  readonly ratio: number;
}

/** The result of `testPolicy`. */
export interface PolicyTestReport {
  /** Those of the policy. */
  readonly warnings: readonly PolicyProblem[];
  readonly passed: number;
  readonly failed: number;
  readonly results: readonly CaseResult[];
  readonly coverage: RuleCoverage;
}

const shownValue = (value: unknown): string =>
  value === undefined ? "none" : canonicalJson(value).slice(0, 500);

const differences = ({ expect }: PolicyCase, { decided, rule }: Explanation): string[] => {
  const expected = typeof expect === "string" ? { decision: expect } : expect;
  const found: Record<string, unknown> = { ...decided, rule: rule ?? null };
  return (["decision", "rule", "reason", "modified_payload"] as const).flatMap((field) => {
    const wanted = expected[field];
    const isMet =
      field === "reason"
        ? String(found.reason ?? "").includes(String(wanted))
        : shownValue(wanted) === shownValue(found[field]);
    if (wanted === undefined || isMet) return [];
    return [`${field}: expected ${shownValue(wanted)}, got ${shownValue(found[field])}`];
  });
};

/**
 * Decides the events of cases and compares: each case by itself, with limits that have counted nothing. A policy in
 * shadow is tested for what it would decide. Never throws.
 */
export const testPolicy = (policy: Policy, cases: readonly PolicyCase[]): PolicyTestReport => {
  const decisions = new Map<string, number>();
  const failing = new Set<string>();
  const { bounds } = compiledOf(policy);
  const count = (name: string): void => {
    decisions.set(name, (decisions.get(name) ?? 0) + 1);
  };
  const results = cases.map((one): CaseResult => {
    const counting = { store: new LimitStore(bounds.maxLimitKeys), nowMs: 0 };
    const event = eventOfCase(one);
    let explanation = decide(policy, event, counting);
    for (let again = 1; again < one.repeat; again++) explanation = decide(policy, event, counting);
    const { rule: name, source } = explanation;
    if (name !== undefined && source === "failure") failing.add(name);
    else if (name !== undefined) count(name);
    for (const { rule } of explanation.shadowed) count(rule);
    const problems = differences(one, explanation);
    return { name: one.name, passed: problems.length === 0, problems, explanation };
  });
  const names = [...policy.limits, ...policy.rules];
  const uncovered = names.filter((name) => !decisions.has(name) && !failing.has(name));
  const passed = results.filter((result) => result.passed).length;
  return {
    warnings: policy.warnings,
    passed,
    failed: results.length - passed,
    results,
    coverage: {
      decisions,
      uncovered,
      ratio: names.length === 0 ? 1 : (names.length - uncovered.length) / names.length,
    },
  };
};
