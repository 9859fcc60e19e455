import { type ApprovalDecision, ThreadErrorCode } from "@harnesskit/protocol/threads";
import { isObject } from "@harnesskit/wire/json";
import { isCallShown, type SentAnswer } from "@harnesskit/wire/ui-message";
import type { ThreadClient } from "../client-options.ts";
import { ThreadApprovalError, ThreadError } from "../errors.ts";
import { hasExtension } from "../extensions.ts";
import type { ApprovalData } from "./message-types.ts";
import type { TurnApprovals } from "./turn-approvals.ts";

/** What an answer of `useChat` comes to. */
export type ToDecision = (answer: SentAnswer, asked: ApprovalData) => ApprovalDecision;

/** The refusal of an answer to a question that was not asked, or not in the turn that runs. */
export const unknownApproval = (): ThreadError =>
  new ThreadError(ThreadErrorCode.ApprovalNotFound, "No approval of this chat waits under this id.", {
    code: "approval_not_found",
  });

const approvalSettled = (requestId: string, cause?: unknown): ThreadApprovalError =>
  new ThreadApprovalError(
    "approval_settled",
    requestId,
    "The approval was answered before, or its turn has ended.",
    {
      cause,
    },
  );

/**
 * Gives the answers to the questions of one turn that still wait. Nothing is answered unless all that wait were shown as they are.
 * Throws `approval_not_found` for ids that the turn did not ask under, `approval_settled` where none waits any more, and
 * `approval_digest_mismatch`.
 */
export const answerApprovals = async (
  client: Pick<ThreadClient, "capabilities" | "respondApproval">,
  approvals: Pick<TurnApprovals, "find" | "markAnswered">,
  answers: readonly SentAnswer[],
  toDecision: ToDecision,
): Promise<void> => {
  const waiting: { readonly answer: SentAnswer; readonly data: ApprovalData }[] = [];
  let known: string | undefined;
  for (const answer of answers) {
    const asked = approvals.find(answer.approvalId);
    if (!asked) throw unknownApproval();
    known = answer.approvalId;
    if (asked.isSettled) continue;
    if (!isCallShown(answer, asked.data)) {
      const text = "The call that was answered is not the one that waits: load the chat again.";
      throw new ThreadApprovalError("approval_digest_mismatch", known, text);
    }
    waiting.push({ answer, data: asked.data });
  }
  if (known === undefined) throw unknownApproval();
  let isAccepted = false;
  let late = approvalSettled(known);
  for (const { answer, data } of waiting) {
    try {
      await respond(client, data, toDecision(answer, data));
      approvals.markAnswered(data.requestId);
      isAccepted = true;
    } catch (error) {
      // Answered elsewhere meanwhile, or twice here: the others count.
      if (!ThreadApprovalError.isInstance(error) || error.code !== "approval_settled") throw error;
      late = error;
    }
  }
  if (!isAccepted) throw late;
};

const respond = async (
  client: Pick<ThreadClient, "capabilities" | "respondApproval">,
  { requestId, digest: asked }: ApprovalData,
  decision: ApprovalDecision,
): Promise<void> => {
  const bound = hasExtension(client.capabilities, "grants") ? { digest: asked } : {};
  try {
    await client.respondApproval(requestId, decision, bound);
  } catch (error) {
    const data = ThreadError.isInstance(error) ? error.data : undefined;
    throw isObject(data) && data.reason === "already_resolved" ? approvalSettled(requestId, error) : error;
  }
};
