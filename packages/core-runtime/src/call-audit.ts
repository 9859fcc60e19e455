import type { AuditEntryInput, AuditOutcome } from "@harnesskit/audit";
import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import type { AuditTrail } from "./audit-trail.ts";
import type { Call } from "./call.ts";
import type { CallResult } from "./call-result.ts";

interface Session {
  readonly agentId: string;
  readonly sessionId: string;
}

const entryOf = (action: string, call: Call, session: Session): AuditEntryInput => ({
  action,
  actor: call.options.actor ?? call.options.caller,
  agent_id: session.agentId,
  tool_id: call.toolId,
  call_id: call.callId,
  session_id: session.sessionId,
  request_id: call.options.requestId,
  correlation_id: call.options.correlationId,
  causation_id: call.causationId,
});

/** Before the call is sent. Ids that the core made up from the call's own are left out: they say nothing more. */
export const auditCallStart = (audit: AuditTrail, call: Call, session: Session): void => {
  if (audit.on) call.audited = audit.begin(entryOf("tool.call", call, session));
};

/** When the call has ended for its caller, sent or not. */
export const auditCallEnd = (
  audit: AuditTrail,
  call: Call,
  session: Session,
  result: CallResult,
  now: number,
): void => {
  if (!audit.on) return;
  const end = {
    action: "tool.result",
    outcome: outcomeOf(result),
    duration_ms: now - call.startedAt,
    details: result.status === "succeeded" ? undefined : { code: result.error.code },
  };
  if (call.audited) call.audited.end(end);
  else audit.record({ ...entryOf("tool.result", call, session), ...end });
};

const refusals: ReadonlySet<string> = new Set([
  RuntimeErrorCode.Forbidden,
  RuntimeErrorCode.DirectiveRequired,
  RuntimeErrorCode.InvalidInput,
  RuntimeErrorCode.IdempotencyConflict,
]);

const limits: ReadonlySet<string> = new Set([
  RuntimeErrorCode.Busy,
  RuntimeErrorCode.InputTooLarge,
  RuntimeErrorCode.OutputTooLarge,
]);

/** What an audit calls the way a call ended. */
export const outcomeOf = (result: CallResult): AuditOutcome => {
  if (result.status === "succeeded") return "ok";
  if (result.status === "canceled") return "cancelled";
  const { code } = result.error;
  if (code === RuntimeErrorCode.Timeout) return "timeout";
  if (refusals.has(code)) return "refused";
  return limits.has(code) ? "limited" : "failed";
};
