import type { AuditEntryInput, AuditOutcome } from "@harnesskit/audit";
import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import type { AuditTrail } from "./audit-trail.ts";
import type { Call } from "./call.ts";
import type { CallOptions } from "./call-options.ts";
import type { CallResult } from "./call-result.ts";
import type { CoreContext } from "./core-context.ts";
import type { Session } from "./session.ts";

/** Ids that the core derived from the call's own are left out. */
const callEntry = (
  action: string,
  toolId: string,
  callId: string,
  { actor, caller, requestId, correlationId, causationId, directiveId }: CallOptions,
  session?: Session,
): AuditEntryInput => ({
  action,
  actor: actor ?? caller,
  agent_id: session?.agentId,
  tool_id: toolId,
  call_id: callId,
  session_id: session?.sessionId,
  request_id: requestId,
  correlation_id: correlationId,
  causation_id: causationId ?? directiveId,
});

/** Before the call is sent. */
export const auditCallStart = (audit: AuditTrail, call: Call, session: Session): void => {
  if (!audit.sink) return;
  call.audited = callEntry("tool.call", call.toolId, call.callId, call.options, session);
  audit.record(call.audited);
};

/** When the call has ended for its caller, sent or not. */
export const auditCallEnd = (
  { audit, clock }: CoreContext,
  call: Call,
  session: Session,
  result: CallResult,
): void => {
  if (!audit.sink) return;
  const refusal = call.audited ? undefined : refusalOf(result);
  const end = resultEnd(result, clock.elapsedMs() - call.startedMs, refusal);
  const entry = call.audited ?? callEntry("tool.result", call.toolId, call.callId, call.options, session);
  audit.record({ ...entry, ...end });
};

/** A call that was refused before it had a session. */
export const auditRefusedCall = (
  audit: AuditTrail,
  toolId: string,
  callId: string,
  options: CallOptions,
  result: CallResult,
): void => {
  audit.record({ ...callEntry("tool.result", toolId.slice(0, 257), callId, options), ...resultEnd(result) });
};

const resultEnd = (
  result: CallResult,
  durationMs?: number,
  refusal?: Readonly<Record<string, string>>,
): Pick<AuditEntryInput, "action" | "outcome" | "duration_ms" | "details"> => ({
  action: "tool.result",
  outcome: auditOutcome(result),
  duration_ms: durationMs,
  details: result.status === "succeeded" ? undefined : { code: result.error.code, ...refusal },
});

/** Which permissions a call that was not sent lacked, or what was wrong with its directive. */
const refusalOf = (result: CallResult): Readonly<Record<string, string>> | undefined => {
  if (result.status === "succeeded") return undefined;
  const { missing, reason } = result.error.details ?? {};
  if (Array.isArray(missing)) return { missing: missing.join(" ") };
  return typeof reason === "string" ? { reason } : undefined;
};

const outcomes: Readonly<Record<string, AuditOutcome>> = {
  [RuntimeErrorCode.Timeout]: "timeout",
  [RuntimeErrorCode.Forbidden]: "refused",
  [RuntimeErrorCode.DirectiveRequired]: "refused",
  [RuntimeErrorCode.InvalidInput]: "refused",
  [RuntimeErrorCode.IdempotencyConflict]: "refused",
  [RuntimeErrorCode.Busy]: "limited",
  [RuntimeErrorCode.InputTooLarge]: "limited",
  [RuntimeErrorCode.OutputTooLarge]: "limited",
};

const auditOutcome = (result: CallResult): AuditOutcome => {
  if (result.status === "succeeded") return "ok";
  if (result.status === "canceled") return "cancelled";
  const { code } = result.error;
  return (Object.hasOwn(outcomes, code) ? outcomes[code] : undefined) ?? "failed";
};
