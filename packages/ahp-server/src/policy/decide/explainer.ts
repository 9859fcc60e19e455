import { createRedactor, type Redactor } from "@harnesskit/audit";
import type { AhpEventType } from "@harnesskit/protocol/ahp";
import type { Policy } from "../policy.ts";
import type { ResolvedPolicyLimits } from "../policy-limits.ts";
import { type AnyDecision, type DecisionMaker, roomOf } from "../rules/decision-maker.ts";
import type { Explanation } from "./explanation.ts";

/** What an explanation goes by. */
export type About = Pick<Explanation, "source" | "rule" | "why" | "shadowed">;
type Fields = Record<string, unknown>;

const cut = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;

const maxWhyLength = 500;
/** Most words are a rule's own and come again; those with an event's values are forgotten with them, all at once. */
const maxRemembered = 2000;

/** Makes decisions say who made them and why: without secrets, and no longer than allowed. */
export class Explainer {
  /** Takes out what has the shape of a secret. */
  static readonly plain: Explainer = new Explainer(createRedactor());

  readonly #redactor: Pick<Redactor, "text">;
  readonly #remembered = new Map<string, string>();
  /** Explanations that are the same for every event of a type, of the policy that decided last. */
  readonly #same = new Map<DecisionMaker, Map<AhpEventType, Explanation>>();
  #policy: Policy | undefined;

  constructor(redactor: Pick<Redactor, "text">) {
    this.#redactor = redactor;
  }

  /** The explanation that was remembered for a decision of this maker. */
  known(policy: Policy, maker: DecisionMaker, type: AhpEventType): Explanation | undefined {
    return policy === this.#policy ? this.#same.get(maker)?.get(type) : undefined;
  }

  /** Keeps an explanation for all events of a type. It cannot be changed from here on. */
  remember(policy: Policy, maker: DecisionMaker, type: AhpEventType, explanation: Explanation): void {
    if (policy !== this.#policy) this.#same.clear();
    this.#policy = policy;
    const byType = this.#same.get(maker) ?? new Map<AhpEventType, Explanation>();
    byType.set(type, frozen(explanation));
    this.#same.set(maker, byType);
  }

  /** Words about a decision, without secrets. */
  clean(why: string): string {
    return this.#clean(why, maxWhyLength);
  }

  #clean(text: string, maxLength: number): string {
    const known = this.#remembered.get(text);
    if (known !== undefined) return cut(known, maxLength);
    const safe = this.#redactor.text(text);
    if (this.#remembered.size >= maxRemembered) this.#remembered.clear();
    this.#remembered.set(text, safe);
    return cut(safe, maxLength);
  }

  /** The decision with its explanation: the rule in the reason, and in `metadata.policy`, where the form has them. */
  explained(
    policy: Policy,
    type: AhpEventType,
    decision: Fields,
    about: About,
    { maxReasonLength }: ResolvedPolicyLimits,
  ): AnyDecision {
    const room = roomOf(type, decision);
    if (typeof decision.reason === "string" || (room.reason && about.source === "limit")) {
      const said = this.#clean(String(decision.reason ?? about.why), maxReasonLength);
      const by =
        about.rule === undefined ? "" : ` (${about.source === "limit" ? "limit" : "rule"} ${about.rule})`;
      // A failure names its rule in its words.
      decision.reason = about.source === "failure" ? said : said + by;
    }
    // A bare allow is the commonest answer by far, and the cheapest: no rule had anything to say.
    const isBare = about.source === "default" && decision.decision === "allow" && about.shadowed.length === 0;
    if (room.metadata && !isBare) {
      const own = decision.metadata as Fields | undefined;
      decision.metadata = own ? { ...own, policy: told(policy, about) } : { policy: told(policy, about) };
    }
    return decision as AnyDecision;
  }

  /** What is answered in shadow, with what would have been decided. */
  inShadow(
    policy: Policy,
    type: AhpEventType,
    decision: Fields,
    about: About,
    decided: AnyDecision | undefined,
  ): AnyDecision {
    if (roomOf(type, decision).metadata) {
      const would = decided?.decision;
      decision.metadata = { policy: { ...told(policy, about), mode: "shadow", ...(would && { would }) } };
    }
    return decision as AnyDecision;
  }
}

/** Frozen with all that it holds; these are as deep as the file that says them. */
const frozen = <T>(value: T): T => {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) frozen(inner);
  }
  return value;
};

const told = (policy: Policy, { source, rule, why, shadowed }: About): Fields => {
  const fields: Fields = { name: policy.name };
  if (rule !== undefined) fields.rule = rule;
  if (source !== "rule") fields.source = source;
  fields.why = why;
  if (shadowed.length > 0) fields.shadowed = shadowed.map((one) => `${one.rule}: ${one.decision}`);
  return fields;
};
