import type { RuntimeMessageOf } from "@harnesskit/protocol/runtime";
import type { Call } from "./call.ts";
import type { MessageFactory, OutgoingMessage } from "./message-factory.ts";

const maxReasonLength = 1024;

/** `core.tool.call` for a call, with the time that it has left. */
export const callMessage = (messages: MessageFactory, call: Call, now: number): OutgoingMessage => {
  const { options } = call;
  const payload: RuntimeMessageOf<"core.tool.call">["payload"] = {
    call_id: call.callId,
    tool_id: call.toolId,
    input: call.input,
    timeout_ms: Math.max(1, call.dueAt - now),
  };
  if (options.idempotencyKey !== undefined) payload.idempotency_key = options.idempotencyKey;
  if (options.caller) payload.caller = options.caller;
  if (options.context) payload.context = options.context;
  return messages.make("core.tool.call", payload, {
    request_id: call.requestId,
    correlation_id: call.correlationId,
    causation_id: call.causationId,
    actor: options.actor,
  });
};

/** `core.tool.cancel` for a call. */
export const cancelMessage = (
  messages: MessageFactory,
  call: Call,
  reason: string | undefined,
  deadlineMs: number,
): OutgoingMessage => {
  const payload = {
    call_id: call.callId,
    ...(reason !== undefined && { reason: reason.slice(0, maxReasonLength) }),
    deadline_ms: deadlineMs,
  };
  return messages.make("core.tool.cancel", payload, {
    request_id: call.requestId,
    correlation_id: call.correlationId,
    causation_id: call.causationId,
  });
};
