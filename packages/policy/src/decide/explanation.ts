import type { PolicyMode } from "../file/policy-schema.ts";
import type { RuleError } from "../policy-error.ts";
import type { AnyDecision } from "../rules/decision-form.ts";

/** What a rule or a limit in shadow would have decided. */
export interface ShadowDecision {
  readonly rule: string;
  readonly decision: string;
  readonly why: string;
}

/** A decision of a policy and the reasons for it. */
export interface Explanation {
  /**
   * The answer to the agent. Undefined for an event with a decision of its own that the policy does not decide, or only
   * in shadow: it is answered as not supported.
   */
  readonly decision: AnyDecision | undefined;
  /** What the policy decided; differs from `decision` where the whole policy is in shadow. */
  readonly decided: AnyDecision | undefined;
  /**
   * What made the decision: a rule, a limit, the default of the event's type, the failure of a rule or limit, or the
   * guard of the policy's own file.
   */
  readonly source: "rule" | "limit" | "default" | "failure" | "guard";
  /** The name of the rule or limit; undefined for a default. */
  readonly rule: string | undefined;
  /** In words, without values of the event; at most 500 characters. */
  readonly why: string;
  /** The policy's mode. */
  readonly mode: PolicyMode;
  /** Rules and limits in shadow that would have decided otherwise, the first 20. */
  readonly shadowed: readonly ShadowDecision[];
  /** What a failed rule threw. */
  readonly error: RuleError | undefined;
}
