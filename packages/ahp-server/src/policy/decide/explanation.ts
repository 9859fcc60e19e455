import type { PolicyMode } from "../file/policy-schema.ts";
import type { RuleError } from "../policy-error.ts";
import type { AnyDecision } from "../rules/decision-maker.ts";

/** What a rule or a limit in shadow would have decided. */
export interface ShadowDecision {
  readonly rule: string;
  readonly decision: string;
  readonly why: string;
}

/** A decision of a policy, and how it came to be. */
export interface Explanation {
  /**
   * What the agent is answered. Undefined for an event with a decision of its own on which the policy has no say, or
   * only in shadow: it is answered as not supported.
   */
  readonly decision: AnyDecision | undefined;
  /** What the policy decided; another than `decision` where the whole policy is in shadow. */
  readonly decided: AnyDecision | undefined;
  /**
   * Who made it: a rule, a limit, the default of the event's class, the failure of a rule or limit, or the guard of the
   * policy's own file.
   */
  readonly source: "rule" | "limit" | "default" | "failure" | "guard";
  /** The name of the rule or limit; undefined for a default. */
  readonly rule: string | undefined;
  /** In words, without anything from the event; at most some hundred characters. */
  readonly why: string;
  /** The policy's mode. */
  readonly mode: PolicyMode;
  /** Rules and limits in shadow that would have decided otherwise, the first 20. */
  readonly shadowed: readonly ShadowDecision[];
  /** What a failed rule threw. */
  readonly error: RuleError | undefined;
}
