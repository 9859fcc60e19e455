/** Who decided about a call or a prompt, and why. Kept with the item; shown, so safe text. */
export interface Judgement {
  /** Such as the policy and its name. */
  readonly by: string;
  /** The rule that decided. */
  readonly rule?: string;
  readonly reason?: string;
}

/** What was asked for, where a gate changed it. */
export interface Modification<Requested> extends Partial<Judgement> {
  readonly requested: Requested;
}

/** What an item says of its judgement. A block and an ask say their reasons in the item's `error` and the approval, too. */
export interface ItemJudgement<Requested> extends Judgement {
  readonly decision: "allow" | "ask" | "block";
  /** What was asked for before the last change; the item has what ran. */
  readonly modified?: Modification<Requested>;
}

/** What an item says of a verdict; nothing where the gate said nothing about itself and changed nothing. */
export const toItemJudgement = <Requested>(
  decision: ItemJudgement<Requested>["decision"],
  judgement: Judgement | undefined,
  modified: Modification<Requested> | undefined,
): { judgement?: ItemJudgement<Requested> } => {
  if (!judgement && !modified) return {};
  const by = judgement ?? { by: modified?.by ?? "the gate" };
  return { judgement: { decision, ...by, ...(modified && { modified }) } };
};
