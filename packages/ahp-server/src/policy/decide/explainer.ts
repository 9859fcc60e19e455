import { createRedactor, type Redactor } from "@harnesskit/audit";
import type { AhpEventType } from "@harnesskit/protocol/ahp";
import type { Policy } from "../policy.ts";
import type { ResolvedPolicyLimits } from "../policy-limits.ts";
import { type AnyDecision, roomOf } from "../rules/decision-maker.ts";
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

  constructor(redactor: Pick<Redactor, "text">) {
    this.#redactor = redactor;
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
    if (room.metadata) {
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

const told = (policy: Policy, { source, rule, why, shadowed }: About): Fields => {
  const fields: Fields = { name: policy.name };
  if (rule !== undefined) fields.rule = rule;
  if (source !== "rule") fields.source = source;
  fields.why = why;
  if (shadowed.length > 0) fields.shadowed = shadowed.map((one) => `${one.rule}: ${one.decision}`);
  return fields;
};
