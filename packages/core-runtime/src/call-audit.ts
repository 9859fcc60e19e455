import type { AuditEntryInput, AuditOutcome } from "@harnesskit/audit";
import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
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
  end?: Pick<AuditEntryInput, "outcome" | "duration_ms" | "details">,
): AuditEntryInput => ({
  action,
  outcome: end?.outcome,
  actor: actor ?? caller,
  agent_id: session?.agentId,
  tool_id: toolId,
  call_id: callId,
  session_id: session?.sessionId,
  request_id: requestId,
  correlation_id: correlationId,
  causation_id: causationId ?? directiveId,
  duration_ms: end?.duration_ms,
  details: end?.details,
});

/** A call that runs so long, or twice as long, has an entry for its beginning. */
const startDelayMs = 20;

/** Records the calls of one session: one that ends soon has one entry, any other one for its beginning and one for its end. */
export class CallAudit {
  readonly #context: CoreContext;
  readonly #session: Session;
  readonly #openCalls: ReadonlyMap<string, Call>;
  #cancelTimer: (() => void) | undefined;

  constructor(context: CoreContext, session: Session, openCalls: ReadonlyMap<string, Call>) {
    this.#context = context;
    this.#session = session;
    this.#openCalls = openCalls;
  }

  /** A call was sent. */
  started(): void {
    const { audit, clock } = this.#context;
    if (this.#cancelTimer || !audit) return;
    this.#cancelTimer = clock.after(startDelayMs, () => {
      this.#cancelTimer = undefined;
      const latestMs = clock.elapsedMs() - startDelayMs;
      for (const call of this.#openCalls.values()) {
        if (!call.isSent || call.isStartRecorded) continue;
        if (call.startedMs > latestMs) {
          this.started();
          continue;
        }
        call.isStartRecorded = true;
        audit.record(callEntry("tool.call", call.toolId, call.callId, call.options, this.#session));
      }
    });
  }

  /** The call has ended for its caller, sent or not. */
  ended(call: Call, result: CallResult): void {
    const { audit, clock } = this.#context;
    if (!audit) return;
    const { isSent, toolId, callId, options } = call;
    const action = isSent && !call.isStartRecorded ? "tool.call" : "tool.result";
    call.isStartRecorded = true;
    const duration_ms = clock.elapsedMs() - call.startedMs;
    const end = { outcome: outcomeOf(result), duration_ms, details: detailsOf(result, isSent) };
    audit.record(callEntry(action, toolId, callId, options, this.#session, end));
  }

  /** All calls have ended. */
  stop(): void {
    this.#cancelTimer?.();
  }
}

/** Records a call that was refused before it had a session. */
export const auditRefusedCall = (
  { audit }: CoreContext,
  toolId: string,
  callId: string,
  options: CallOptions,
  result: CallResult,
): void => {
  const end = { outcome: outcomeOf(result), details: detailsOf(result, false) };
  audit?.record(callEntry("tool.result", toolId.slice(0, 257), callId, options, undefined, end));
};

/** Of a call that was not sent also which permissions it lacked, or what was wrong with its directive. */
const detailsOf = (result: CallResult, isSent: boolean): AuditEntryInput["details"] => {
  if (result.status === "succeeded") return undefined;
  const { code, details } = result.error;
  if (isSent || !details) return { code };
  const { missing, reason } = details;
  if (Array.isArray(missing)) return { code, missing: missing.join(" ") };
  return typeof reason === "string" ? { code, reason } : { code };
};

const outcomes: ReadonlyMap<string, AuditOutcome> = new Map([
  [RuntimeErrorCode.Timeout, "timeout"],
  [RuntimeErrorCode.Forbidden, "refused"],
  [RuntimeErrorCode.DirectiveRequired, "refused"],
  [RuntimeErrorCode.InvalidInput, "refused"],
  [RuntimeErrorCode.IdempotencyConflict, "refused"],
  [RuntimeErrorCode.Busy, "limited"],
  [RuntimeErrorCode.InputTooLarge, "limited"],
  [RuntimeErrorCode.OutputTooLarge, "limited"],
]);

const outcomeOf = (result: CallResult): AuditOutcome => {
  if (result.status === "succeeded") return "ok";
  return result.status === "canceled" ? "cancelled" : (outcomes.get(result.error.code) ?? "failed");
};
