import type { StoredSuspension } from "@harnesskit/graph";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { activeTrace, currentTracer } from "@harnesskit/wire/trace";
import { approvalRequestsOf, ChatApprovalAnswerSchema } from "./ai-sdk/approval.ts";

/**
 * Reports an approval whose answer was stored, from its question to its answer, whichever processes were there meanwhile. Nothing for
 * a suspension that asks for something else.
 */
export const traceApproval = (
  { descriptor, suspended_at, session_id: sessionId, trace }: StoredSuspension,
  { approval }: JsonObject,
  nowMs: number,
): void => {
  const tracer = currentTracer();
  if (tracer === undefined) return;
  const { data: answer } = ChatApprovalAnswerSchema.safeParse(approval);
  const waiting = approvalRequestsOf(descriptor);
  const request = waiting.find(({ call_id }) => call_id === answer?.call_id) ?? waiting[0];
  if (request === undefined) return;
  const details = {
    tool: request.tool,
    approvalId: request.signal_id,
    conversationId: sessionId ?? undefined,
    answer: answer === undefined ? "invalid" : answer.decision === "approve" ? "approved" : "rejected",
    input: request.input,
  };
  tracer
    .start("approval", details, {
      parent: trace,
      links: [activeTrace()],
      startedAtMs: Date.parse(suspended_at),
    })
    .end(undefined, nowMs);
};
