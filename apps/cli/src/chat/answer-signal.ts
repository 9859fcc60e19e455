import type { ChatHarness } from "@harnesskit/chat-harness";
import { toApprovalPayload } from "@harnesskit/chat-harness/ai-sdk";
import type { AnswerCommand } from "../terminal/line-conversation.ts";
import type { WaitingCall } from "./waiting-calls.ts";

/** The signal that answers a call, bound to what was shown. */
export const answerSignal = (
  { invocationId, request }: WaitingCall,
  sessionId: string,
  command: AnswerCommand,
): Parameters<ChatHarness["signal"]>[0] => {
  const { signal_id: signalId, call_id, digest } = request;
  const bound = { call_id, digest };
  const answer =
    command.kind === "approve"
      ? ({ decision: "approve", ...bound } as const)
      : ({ decision: "reject", ...bound, reason: command.reason } as const);
  return { invocationId, signalId, sessionId, payload: toApprovalPayload(answer) };
};
