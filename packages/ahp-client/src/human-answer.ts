import type { Decision } from "@harnesskit/protocol/ahp";
import { isObject } from "@harnesskit/wire/json";

/** The answer of a human whom the harness asked. Untrusted strings. */
export interface HumanAnswer {
  readonly status: "approved" | "rejected";
  readonly by: string;
  readonly note?: string | undefined;
  /** The grant that answered, which the human gave before. */
  readonly grant?: string | undefined;
}

/** Whether a decision blocks because the harness asked a human who did not answer in time, as `metadata.approval` says. */
export const hasExpired = ({
  decision,
  metadata,
}: Pick<Decision, "decision"> & { readonly metadata?: unknown }): boolean =>
  decision === "block" &&
  isObject(metadata) &&
  isObject(metadata.approval) &&
  metadata.approval.status === "expired";

/** The answer of a human that a decision passes on, as `metadata.approval` says; undefined where a policy decided of its own. */
export const humanAnswerOf = (
  decision: Pick<Decision, "decision"> & { readonly metadata?: unknown },
): HumanAnswer | undefined => {
  const passed = decision.decision === "block" ? "rejected" : decision.decision === "allow" ? "approved" : "";
  if (!isObject(decision.metadata) || !isObject(decision.metadata.approval)) return undefined;
  const { status, by, note, grant } = decision.metadata.approval;
  if (passed === "" || status !== passed || typeof by !== "string") return undefined;
  return {
    status: passed,
    by,
    note: typeof note === "string" ? note : undefined,
    grant: typeof grant === "string" ? grant : undefined,
  };
};
