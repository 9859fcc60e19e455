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

/** A call that runs so long, or twice as long, has an entry for its beginning. */
const startDelayMs = 20;

/** Records the calls of one session: one that ends soon has one entry, any other one for its beginning and one for its end. */
export class CallAudit {
  readonly #context: CoreContext;
  readonly #session: Session;
  readonly #openCalls: () => Iterable<Call>;
  #cancelTimer: (() => void) | undefined;

  constructor(context: CoreContext, session: Session, openCalls: () => Iterable<Call>) {
    this.#context = context;
    this.#session = session;
    this.#openCalls = openCalls;
  }

  /** A call was sent. */
  started(): void {
    const { audit, clock } = this.#context;
    if (this.#cancelTimer || !audit.sink) return;
    this.#cancelTimer = clock.after(startDelayMs, () => {
      this.#cancelTimer = undefined;
      const latestMs = clock.elapsedMs() - startDelayMs;
      for (const call of this.#openCalls()) {
        if (!call.isSent || call.isStartRecorded) continue;
        if (call.startedMs > latestMs) {
          this.started();
          continue;
        }
        call.isStartRecorded = true;
        audit.record(this.#entry("tool.call", call));
      }
    });
  }

  /** The call has ended for its caller, sent or not. */
  ended(call: Call, result: CallResult): void {
    const { audit, clock } = this.#context;
    if (!audit.sink) return;
    const { isSent } = call;
    const entry = this.#entry(isSent && !call.isStartRecorded ? "tool.call" : "tool.result", call);
    call.isStartRecorded = true;
    const refusal = isSent ? undefined : refusalOf(result);
    audit.record(Object.assign(entry, auditedOutcome(result, clock.elapsedMs() - call.startedMs, refusal)));
  }

  /** All calls have ended. */
  stop(): void {
    this.#cancelTimer?.();
  }

  #entry(action: string, call: Call): AuditEntryInput {
    return callEntry(action, call.toolId, call.callId, call.options, this.#session);
  }
}

/** A call that was refused before it had a session. */
export const auditRefusedCall = (
  audit: AuditTrail,
  toolId: string,
  callId: string,
  options: CallOptions,
  result: CallResult,
): void => {
  audit.record({
    ...callEntry("tool.result", toolId.slice(0, 257), callId, options),
    ...auditedOutcome(result),
  });
};

const auditedOutcome = (
  result: CallResult,
  durationMs?: number,
  refusal?: Readonly<Record<string, string>>,
): Pick<AuditEntryInput, "outcome" | "duration_ms" | "details"> => ({
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
