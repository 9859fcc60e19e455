import type { StoredSuspension } from "@harnesskit/graph";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { activeTrace, approvalSpan, startSpan } from "@harnesskit/wire/trace";
import { approvalRequestOf, ChatApprovalAnswerSchema } from "./ai-sdk/approval.ts";

/**
 * Reports an approval whose answer was stored, from its question to its answer, whichever processes were there meanwhile. Nothing for
 * a suspension that asks for something else.
 */
export const traceApproval = (
  { descriptor, suspended_at, session_id: sessionId, trace }: StoredSuspension,
  { approval }: JsonObject,
  nowMs: number,
): void => {
  const span = startSpan(() => {
    const request = approvalRequestOf(descriptor);
    if (request === undefined) return undefined;
    const { data: answer } = ChatApprovalAnswerSchema.safeParse(approval);
    return approvalSpan({
      tool: request.tool,
      approvalId: descriptor.signal_id,
      conversationId: sessionId ?? undefined,
      input: request.input,
      answer: answer === undefined ? "invalid" : answer.decision === "approve" ? "approved" : "rejected",
      parent: trace,
      links: [activeTrace()],
      startedAtMs: Date.parse(suspended_at),
    });
  });
  span?.end(undefined, nowMs);
};
