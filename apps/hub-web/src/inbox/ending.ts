import type { ApprovalRecord } from "@harnesskit/approvals";
import { approvalWord } from "@harnesskit/timeline";
import { formatAge, line } from "../format.ts";

export interface Ending {
  readonly tone: "good" | "bad" | "warn" | "plain";
  readonly text: string;
}

/** What came of an approved action. */
const effects: Readonly<Record<ApprovalRecord["effect"], readonly [Ending["tone"], string]>> = {
  none: ["good", "The agent has not taken it yet."],
  claimed: ["good", "It is being done."],
  done: ["good", "It was done."],
  failed: ["bad", "It was tried and failed."],
  ambiguous: ["warn", "No outcome arrived: it may have been done, in part or whole."],
};

/** What became of an approval: who answered, and what came of it; undefined while it waits. */
export const approvalEnding = (
  record: ApprovalRecord,
  by: string | undefined,
  nowMs: number,
): Ending | undefined => {
  const { status, answer, withdrawn, effect, effectDetail } = record;
  const who = answer === undefined ? "A human" : answer.by === by ? "You" : line(answer.by, 100);
  const when = answer === undefined ? "" : `, ${formatAge(answer.atMs, nowMs)}`;
  const how = answer?.grantId === undefined ? "" : " by a grant";
  const note = answer?.note === undefined ? "" : ` Reason: ${line(answer.note, 4000)}`;
  const detail = effectDetail === undefined ? "" : ` ${line(effectDetail, 500)}`;
  switch (status) {
    case "pending":
      return undefined;
    case "approved": {
      const [tone, next] = effects[effect];
      return { tone, text: `${who} approved this${how}${when}.${note} ${next}${detail}` };
    }
    case "rejected":
      return { tone: "bad", text: `${who} refused this${when}.${note}` };
    case "expired":
      return {
        tone: "plain",
        text:
          answer === undefined
            ? "It expired without an answer."
            : `${who} approved this, and the agent did not take it in time.`,
      };
    case "withdrawn": {
      const why = withdrawn?.reason === undefined ? "" : ` ${line(withdrawn.reason, 500)}`;
      return { tone: "plain", text: `It was withdrawn.${why}` };
    }
  }
};

/** The same in a word or two, for lists. */
export const shortEnding = (record: ApprovalRecord): string => {
  const { status, effect } = record;
  if (status === "pending") return "waiting";
  if (status !== "approved" || effect === "none" || effect === "claimed") return approvalWord(record);
  return effect === "ambiguous" ? "outcome unknown" : effect;
};
