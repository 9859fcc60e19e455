import { type AhpEvent, ahpEvents } from "@harnesskit/protocol/ahp";
import { displayText } from "@harnesskit/wire";
import { EventView } from "../cel/event-view.ts";
import type { Limit } from "../limits/limit.ts";
import type { LimitStore, OverLimit } from "../limits/limit-store.ts";
import { type Policy, type PolicyParts, partsOf } from "../policy.ts";
import { RuleError } from "../policy-error.ts";
import type { AnyDecision, DecisionMaker } from "../rules/decision-maker.ts";
import type { Rule } from "../rules/rule.ts";
import { type About, Explainer } from "./explainer.ts";
import type { Explanation, ShadowDecision } from "./explanation.ts";
import { inertDecision, refuse } from "./refuse.ts";

/** Where limits are counted, and at what time. */
export interface Counting {
  readonly store: LimitStore;
  readonly nowMs: number;
}

/** What was decided before anybody put an explanation into it. */
interface Verdict {
  readonly source: Explanation["source"];
  readonly rule: string | undefined;
  readonly why: string;
  readonly decision: Record<string, unknown> | undefined;
  readonly error?: RuleError;
  /** What made the decision, where it makes the same one for every event of a type. */
  readonly maker?: DecisionMaker | undefined;
}

const maxShadowed = 20;
const none: readonly ShadowDecision[] = Object.freeze([]);

/** Names that a tool's globs were not asked about beforehand. */
const maxIndexedName = 256;

const toRuleError = (cause: unknown): RuleError =>
  RuleError.isInstance(cause)
    ? cause
    : new RuleError("policy_expression_failed", "its evaluation threw", { cause });

const goesOn: ReadonlySet<unknown> = new Set(["allow", "modify", "escalate"]);

/** One decision of a policy. */
class Deciding {
  readonly #parts: PolicyParts;
  readonly #view: EventView;
  #shadowed: ShadowDecision[] | undefined;

  constructor(parts: PolicyParts, view: EventView) {
    this.#parts = parts;
    this.#view = view;
  }

  get shadowed(): readonly ShadowDecision[] {
    return this.#shadowed ?? none;
  }

  verdict(counting: Counting): Verdict {
    const verdict = this.#guarded(this.#byRules());
    const { event } = this.#view;
    if (event.event_type === "post_action" || event.event_type === "session_end") this.#release(counting);
    if (!goesOn.has(verdict.decision?.decision)) return verdict;
    return this.#overLimit(counting) ?? verdict;
  }

  /** What the policy would let pass, unless it is the policy itself that would be changed: then somebody is asked. */
  #guarded(verdict: Verdict): Verdict {
    const passes = verdict.decision?.decision === "allow" || verdict.decision?.decision === "modify";
    if (!passes || !this.#changesOwnFile()) return verdict;
    const why = "it would change the policy itself";
    return { source: "guard", rule: undefined, why, decision: { decision: "escalate", reason: why } };
  }

  /** Where the question itself fails, the answer is yes. */
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

  #byRules(): Verdict {
    const rules = this.#parts.index.of(this.#view);
    const isIndexed = this.#view.tool.length <= maxIndexedName;
    for (let index = 0; index < rules.length; index++) {
      const rule = rules[index] as Rule;
      const verdict = this.#byRule(rule, isIndexed);
      if (!verdict) continue;
      if (rule.mode === "enforce") return verdict;
      this.#note(rule.name, String(verdict.decision?.decision), verdict.why);
    }
    const maker = this.#parts.defaults.get(this.#view.event.event_type);
    const why = "no rule applies";
    if (!maker) return { source: "default", rule: undefined, why, decision: undefined };
    try {
      const decision = maker.make(this.#view.event.event_type, this.#view);
      return { source: "default", rule: undefined, why, decision, maker };
    } catch (cause) {
      return this.#failed(undefined, cause);
    }
  }

  #byRule(rule: Rule, isIndexed: boolean): Verdict | undefined {
    const { condition } = rule;
    const view = this.#view;
    try {
      if (!isIndexed && condition.tool && !condition.tool(view.tool)) return undefined;
      return condition.holds(view) ? this.#decided(rule) : undefined;
    } catch (cause) {
      return this.#failed(rule.name, cause);
    }
  }

  #decided({ name, condition, decision: maker }: Rule): Verdict {
    const decision = maker.make(this.#view.event.event_type, this.#view);
    return { source: "rule", rule: name, why: condition.why, decision, maker };
  }

  #failed(name: string | undefined, cause: unknown): Verdict {
    const error = toRuleError(cause);
    const who = name === undefined ? "the default" : `the rule ${name}`;
    const why = `${who} failed: ${displayText(error.message, { maxLength: 200 })}`;
    const refusal = refuse(this.#view.event.event_type, why);
    return { source: "failure", rule: name, why, decision: { ...refusal }, error };
  }

  #overLimit({ store, nowMs }: Counting): Verdict | undefined {
    const open: Limit[] = [];
    const view = this.#view;
    for (const limit of this.#parts.limitIndex.of(view)) {
      try {
        const isOut = view.tool.length > maxIndexedName && limit.condition.tool?.(view.tool) === false;
        if (isOut || !limit.condition.holds(view)) continue;
        const over = store.over(limit, view, nowMs);
        if (over && limit.mode === "enforce") return this.#beyond(over);
        if (over) this.#note(limit.name, limit.decision?.word ?? "defer", over.why);
        open.push(limit);
      } catch (cause) {
        const failed = this.#failed(limit.name, cause);
        if (limit.mode === "enforce") return failed;
        this.#note(limit.name, String(failed.decision?.decision), failed.why);
      }
    }
    for (const limit of open) store.take(limit, view, nowMs);
    return undefined;
  }

  #beyond({ limit, retryAfterMs, why }: OverLimit): Verdict {
    const decision = limit.decision
      ? limit.decision.make(this.#view.event.event_type, this.#view)
      : { decision: "defer", retry_after_ms: Math.ceil(retryAfterMs), reason: why };
    return { source: "limit", rule: limit.name, why, decision };
  }

  #release({ store }: Counting): void {
    const { event, tool } = this.#view;
    for (const limit of this.#parts.limits) {
      if (event.event_type === "session_end") store.endSession(limit, event.session_id);
      else if (!limit.condition.tool || fits(limit, tool)) store.end(limit, this.#view);
    }
  }

  #note(rule: string, decision: string, why: string): void {
    this.#shadowed ??= [];
    if (this.#shadowed.length < maxShadowed) this.#shadowed.push({ rule, decision, why });
  }
}

const fits = (limit: Limit, tool: string): boolean => {
  try {
    return limit.condition.tool?.(tool) ?? true;
  } catch {
    return false;
  }
};

/**
 * Decides one event, at once. Never throws: what fails is a refusal that names the rule. `counting` is where limits look
 * and count; the explanation goes into the decision where its form has room for it.
 */
export const decide = (
  policy: Policy,
  event: AhpEvent,
  counting: Counting,
  explainer: Explainer = Explainer.plain,
): Explanation => {
  const parts = partsOf(policy);
  const { event_type } = event;
  const view = new EventView(event, parts.workspace);
  const deciding = new Deciding(parts, view);
  parts.expressions.start();
  const verdict = deciding.verdict(counting);
  const { maker } = verdict;
  const isSame = maker?.isSame === true && deciding.shadowed.length === 0;
  const known = isSame ? explainer.known(policy, maker, event_type) : undefined;
  if (known) return known;
  const explanation = explain(policy, event, verdict, deciding.shadowed, explainer);
  if (isSame) explainer.remember(policy, maker, event_type, explanation);
  return explanation;
};

const explain = (
  policy: Policy,
  event: AhpEvent,
  verdict: Verdict,
  shadowed: readonly ShadowDecision[],
  explainer: Explainer,
): Explanation => {
  const { source, rule, why, error } = verdict;
  const { event_type } = event;
  const about = { source, rule, why: explainer.clean(why), shadowed };
  const { bounds } = partsOf(policy);
  const decided =
    verdict.decision && explainer.explained(policy, event_type, verdict.decision, about, bounds);
  const decision = policy.mode === "enforce" ? decided : onlyTold(policy, event, about, decided, explainer);
  return { decision, decided, source, rule, why: about.why, mode: policy.mode, shadowed, error };
};

const onlyTold = (
  policy: Policy,
  { event_type }: AhpEvent,
  about: About,
  decided: AnyDecision | undefined,
  explainer: Explainer,
): AnyDecision | undefined => {
  const inert = inertDecision(event_type);
  return inert && explainer.inShadow(policy, event_type, { ...inert }, about, decided);
};

/** Whether a policy just takes note of a notification, so that nobody need ask. */
export const isUnconcerned = (policy: Policy, event: AhpEvent): boolean => {
  const { index, limits, defaults } = partsOf(policy);
  const { event_type } = event;
  if (ahpEvents[event_type].blocking || index.has(event_type)) return false;
  if (defaults.get(event_type)?.word !== "allow") return false;
  if (event_type === "post_action" || event_type === "session_end") return limits.length === 0;
  return true;
};
