import type { AhpEvent } from "@harnesskit/protocol/ahp";
import { displayText } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { EventView } from "../cel/event-view.ts";
import type { Limit } from "../limits/limit.ts";
import { LimitStore } from "../limits/limit-store.ts";
import { compiledOf, type Policy, type PolicyParts } from "../policy.ts";
import { RuleError } from "../policy-error.ts";
import { refusalFor } from "../rules/decision-form.ts";
import type { Rule } from "../rules/rule.ts";
import { Explainer } from "./explainer.ts";
import type { Explanation, ShadowDecision } from "./explanation.ts";

/** Where limits are counted, and at what time. */
export interface Counting {
  readonly store: LimitStore;
  readonly nowMs: number;
}

/** A decision without its explanation. */
export interface Verdict {
  readonly source: Explanation["source"];
  readonly rule: string | undefined;
  readonly why: string;
  readonly decision: Record<string, unknown> | undefined;
  readonly error?: RuleError;
}

const maxShadowed = 20;

const toRuleError = (cause: unknown): RuleError =>
  RuleError.isInstance(cause)
    ? cause
    : new RuleError("policy_expression_failed", "the evaluation threw an error", { cause });

const passes: ReadonlySet<unknown> = new Set(["allow", "modify"]);

/** One decision of a policy. */
class Decision {
  readonly shadowed: ShadowDecision[] = [];
  readonly #parts: PolicyParts;
  readonly #view: EventView;
  readonly #counting: Counting;

  constructor(parts: PolicyParts, view: EventView, counting: Counting) {
    this.#parts = parts;
    this.#view = view;
    this.#counting = counting;
  }

  verdict(): Verdict {
    const verdict = this.#guard(this.#byRules());
    this.#releaseLimits();
    const word = verdict.decision?.decision;
    return passes.has(word) || word === "escalate" ? (this.#overLimit() ?? verdict) : verdict;
  }

  #byRules(): Verdict {
    for (const rule of this.#parts.rules(this.#view)) {
      const verdict = this.#byRule(rule);
      if (verdict && rule.mode === "enforce") return verdict;
      if (verdict) this.#addShadowed(rule.name, verdict);
    }
    const maker = this.#parts.defaults.get(this.#view.event_type);
    try {
      const decision = maker?.make(this.#view);
      return this.#forRequest({ source: "default", rule: undefined, why: "no rule applies", decision });
    } catch (cause) {
      return this.#failed(undefined, cause);
    }
  }

  #byRule({ name, condition, decision, namesRequests }: Rule): Verdict | undefined {
    try {
      if (!condition.holds(this.#view)) return undefined;
      const made = decision.make(this.#view);
      const verdict: Verdict = { source: "rule", rule: name, why: condition.why, decision: made };
      return namesRequests ? verdict : this.#forRequest(verdict);
    } catch (cause) {
      return this.#failed(name, cause);
    }
  }

  /** The turn's prompt was asked about or changed: that is not done again before each further request to the model. */
  #forRequest(verdict: Verdict): Verdict {
    const { event_type, payload } = this.#view;
    const step = isObject(payload) && event_type === "pre_prompt" ? payload.step : undefined;
    const isFurther = typeof step === "number" && step > 0;
    const word = verdict.decision?.decision;
    if (!isFurther || (word !== "escalate" && word !== "modify")) return verdict;
    return { ...verdict, why: "the turn's prompt was judged", decision: { decision: "allow" } };
  }

  /** An action that would change the policy's own file needs a human where the rules would allow it. */
  #guard(verdict: Verdict): Verdict {
    if (!passes.has(verdict.decision?.decision) || !this.#changesOwnFile()) return verdict;
    const why = "it would change the policy itself";
    return { source: "guard", rule: undefined, why, decision: { decision: "escalate", reason: why } };
  }

  #changesOwnFile(): boolean {
    const { ownFiles, changesFiles } = this.#parts;
    const { event_type, tool, args, workspace } = this.#view;
    if (ownFiles.length === 0 || event_type !== "pre_action") return false;
    try {
      return changesFiles({ tool, args, workspace }, ownFiles);
    } catch {
      return true;
    }
  }

  #overLimit(): Verdict | undefined {
    const { store, nowMs } = this.#counting;
    const open: Limit[] = [];
    for (const limit of this.#parts.limits(this.#view)) {
      const verdict = this.#byLimit(limit, open);
      if (verdict && limit.mode === "enforce") return verdict;
      if (verdict) this.#addShadowed(limit.name, verdict);
    }
    for (const limit of open) store.take(limit, this.#view, nowMs);
    return undefined;
  }

  /** The decision of a limit without room; a limit that applies is added to `open`. */
  #byLimit(limit: Limit, open: Limit[]): Verdict | undefined {
    const { store, nowMs } = this.#counting;
    const { name, condition, decision: maker } = limit;
    try {
      if (!condition.holds(this.#view)) return undefined;
      open.push(limit);
      const over = store.over(limit, this.#view, nowMs);
      if (!over) return undefined;
      const { retryAfterMs, why } = over;
      const decision = maker?.make(this.#view) ?? {
        decision: "defer",
        retry_after_ms: Math.ceil(retryAfterMs),
        reason: why,
      };
      return { source: "limit", rule: name, why, decision };
    } catch (cause) {
      return this.#failed(name, cause);
    }
  }

  /** The end of an action or a session releases what it held of concurrent limits. */
  #releaseLimits(): void {
    const { event_type, session } = this.#view;
    if (event_type !== "post_action" && event_type !== "session_end") return;
    const { store } = this.#counting;
    for (const limit of this.#parts.allLimits) {
      if (event_type === "session_end") store.endSession(limit, session);
      else if (fitsTool(limit, this.#view)) store.end(limit, this.#view);
    }
  }

  /** A failure is a refusal that names the rule. */
  #failed(name: string | undefined, cause: unknown): Verdict {
    const error = toRuleError(cause);
    const subject = name === undefined ? "the default" : `the rule ${name}`;
    const why = `${subject} failed: ${displayText(error.message, { maxLength: 200 })}`;
    return { source: "failure", rule: name, why, decision: refusalFor(this.#view.event_type, why), error };
  }

  #addShadowed(rule: string, { decision, why }: Verdict): void {
    if (this.shadowed.length < maxShadowed)
      this.shadowed.push({ rule, decision: String(decision?.decision), why });
  }
}

const fitsTool = ({ condition }: Limit, view: EventView): boolean => {
  try {
    return condition.fitsTool(view);
  } catch {
    return false;
  }
};

const plainExplainer = new Explainer();

/**
 * Decides one event, at once. Never throws: a failure is a refusal that names the rule. Limits are counted in
 * `counting`; the explanation is part of the decision where its type has room for it.
 */
export const decide = (
  policy: Policy,
  event: AhpEvent,
  counting: Counting,
  explainer: Explainer = plainExplainer,
): Explanation => {
  const parts = compiledOf(policy);
  const decision = new Decision(parts, new EventView(event, parts.workspace), counting);
  parts.expressions.start();
  return explainer.explain(policy, event.event_type, decision.verdict(), decision.shadowed);
};

/**
 * Decides one event without any effect, as if it were the first. Takes an event that fits the protocol's `AhpEventSchema`.
 * Never throws.
 */
export const checkPolicy = (policy: Policy, event: AhpEvent): Explanation =>
  decide(policy, event, { store: new LimitStore(1), nowMs: 0 });
