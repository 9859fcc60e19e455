/** One check: whether it held, and if not, why. */
export interface CheckResult {
  readonly ids: readonly string[];
  /** The step, such as `3[2].1 call ahp/handshake, version "1.9"`. */
  readonly step: string;
  /** `unjudged` where the step was not reached: `detail` names the step that stopped it. */
  readonly verdict: "met" | "unmet" | "unjudged";
  /** Whether no such target can be judged by it: one that the suite did not start. */
  readonly isUnseen?: boolean | undefined;
  readonly detail?: string;
  /** What the suite had sent last, or had the target do, before a check that does not hold. */
  readonly sent?: string | undefined;
}
