import type { StoredSuspension } from "@harnesskit/graph";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { activeTrace, approvalSpan, startSpan } from "@harnesskit/wire/trace";
import { approvalRequestsOf, type ChatApprovalAnswer, ChatApprovalAnswerSchema } from "./ai-sdk/approval.ts";

const answerOf = (answer: ChatApprovalAnswer | undefined): string => {
  if (answer?.decision !== "reject") return answer === undefined ? "invalid" : "approved";
  return answer.unattended ? "unattended" : "rejected";
};

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
    const { data: answer } = ChatApprovalAnswerSchema.safeParse(approval);
    const waiting = approvalRequestsOf(descriptor);
    const request = waiting.find(({ call_id }) => call_id === answer?.call_id) ?? waiting[0];
    if (request === undefined) return undefined;
    return approvalSpan({
      tool: request.tool,
      approvalId: request.signal_id,
      conversationId: sessionId ?? undefined,
      input: request.input,
      answer: answerOf(answer),
      parent: trace,
      links: [activeTrace()],
      startedAtMs: Date.parse(suspended_at),
    });
  });
  span?.end(undefined, nowMs);
};
