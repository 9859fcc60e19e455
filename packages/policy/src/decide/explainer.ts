import { createRedactor, type Redactor } from "@harnesskit/audit";
import type { AhpEventType } from "@harnesskit/protocol/ahp";
import { cutText } from "../cut-text.ts";
import { compiledOf, type Policy } from "../policy.ts";
import { type AnyDecision, inertDecision, roomFor } from "../rules/decision-form.ts";
import type { Verdict } from "./decide.ts";
import type { Explanation, ShadowDecision } from "./explanation.ts";

type Fields = Record<string, unknown>;

const maxWhyLength = 500;
/** Most strings are a rule's own and come again; when there are more, all are dropped. */
const maxRemembered = 2000;

/** Makes decisions state which rule made them and why: without secrets, and within the limits. */
export class Explainer {
  readonly #redactor: Pick<Redactor, "text">;
  readonly #redacted = new Map<string, string>();

  constructor(redactor: Pick<Redactor, "text"> = createRedactor()) {
    this.#redactor = redactor;
  }

  explain(
    policy: Policy,
    type: AhpEventType,
    verdict: Verdict,
    shadowed: readonly ShadowDecision[],
  ): Explanation {
    const { source, rule, decision: made, error } = verdict;
    const { name, mode } = policy;
    const why = cutText(this.#redact(verdict.why), maxWhyLength);
    const about = {
      name,
      rule,
      source: source === "rule" ? undefined : source,
      why,
      shadowed: shadowed.length > 0 ? shadowed.map((one) => `${one.rule}: ${one.decision}`) : undefined,
    };
    // A default that allows has nothing to explain.
    const isBare = source === "default" && made?.decision === "allow" && shadowed.length === 0;
    const decided = made && this.#explained(policy, type, made, verdict, isBare ? undefined : about);
    const decision = mode === "enforce" ? decided : shadowDecision(type, about, decided);
    return { decision, decided, source, rule, why, mode, shadowed, error };
  }

  /** The decision with the rule in its reason, and in `metadata.policy`, where the type has these fields. */
  #explained(
    policy: Policy,
    type: AhpEventType,
    decision: Fields,
    { source, rule, why }: Verdict,
    about: Fields | undefined,
  ): AnyDecision {
    const room = roomFor(type, decision);
    const { maxReasonLength } = compiledOf(policy).bounds;
    if (typeof decision.reason === "string" || (room.reason && source === "limit")) {
      const reason = cutText(this.#redact(String(decision.reason ?? why)), maxReasonLength);
      // The reason of a failure names the rule itself.
      const isNamed = rule === undefined || source === "failure";
      decision.reason = isNamed ? reason : `${reason} (${source === "limit" ? "limit" : "rule"} ${rule})`;
    }
    if (room.metadata && about) decision.metadata = { ...(decision.metadata as Fields), policy: about };
    return decision as AnyDecision;
  }

  #redact(text: string): string {
    const known = this.#redacted.get(text);
    if (known !== undefined) return known;
    const safe = this.#redactor.text(text);
    if (this.#redacted.size >= maxRemembered) this.#redacted.clear();
    this.#redacted.set(text, safe);
    return safe;
  }
}

/** The answer of a policy in shadow, with what it would have decided. */
const shadowDecision = (
  type: AhpEventType,
  about: Fields,
  decided: AnyDecision | undefined,
): AnyDecision | undefined => {
  const inert = inertDecision(type);
  if (!inert || !roomFor(type, inert).metadata) return inert;
  const decision: Fields = { ...inert };
  const would = decided?.decision;
  decision.metadata = { policy: { ...about, mode: "shadow", would } };
  return decision as AnyDecision;
};
