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

type Passed = Pick<Decision, "decision"> & { readonly metadata?: unknown };

const approvalOf = ({ metadata }: Passed): Record<string, unknown> =>
  isObject(metadata) && isObject(metadata.approval) ? metadata.approval : {};

/** Whether a decision blocks because the harness asked a human who did not answer in time, as `metadata.approval` says. */
export const hasExpired = (decision: Passed): boolean =>
  decision.decision === "block" && approvalOf(decision).status === "expired";

/** The answer of a human that a decision passes on, as `metadata.approval` says; undefined where a policy decided of its own. */
export const humanAnswerOf = (decision: Passed): HumanAnswer | undefined => {
  const passed = decision.decision === "block" ? "rejected" : decision.decision === "allow" ? "approved" : "";
  const { status, by, note, grant } = approvalOf(decision);
  if (passed === "" || status !== passed || typeof by !== "string") return undefined;
  return {
    status: passed,
    by,
    note: typeof note === "string" ? note : undefined,
    grant: typeof grant === "string" ? grant : undefined,
  };
};
