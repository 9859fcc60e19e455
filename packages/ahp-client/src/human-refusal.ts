import type { Decision } from "@harnesskit/protocol/ahp";
import { isObject } from "@harnesskit/wire/json";

/** The refusal of a human whom the harness asked. Untrusted strings. */
export interface HumanRefusal {
  readonly by: string;
  readonly note?: string;
}

/** Whether a decision is the answer of a human, as `metadata.approval` says: a policy of its own forbids without one. */
export const humanRefusalOf = (
  decision: Pick<Decision, "decision"> & { readonly metadata?: unknown },
): HumanRefusal | undefined => {
  if (decision.decision !== "block" || !isObject(decision.metadata)) return undefined;
  const { approval } = decision.metadata;
  if (!isObject(approval) || approval.status !== "rejected" || typeof approval.by !== "string")
    return undefined;
  const { by, note } = approval;
  return { by, ...(typeof note === "string" && { note }) };
};
