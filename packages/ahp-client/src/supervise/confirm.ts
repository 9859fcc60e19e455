import { displayText } from "@harnesskit/wire";
import { settleWithin } from "@harnesskit/wire/time";
import type { Supervision } from "./supervision.ts";
import { SupervisionError, undecided } from "./supervision-error.ts";
import type { EscalationAnswer, EscalationRequest } from "./supervision-options.ts";

/** What must be confirmed, and its wording. */
export interface ConfirmRequest extends Omit<EscalationRequest, "signal"> {
  /** `safety_confirm` where the harness escalated, `user_confirm` where the tool asks for it. */
  readonly confirmationType: "safety_confirm" | "user_confirm";
}

/** Settles when the approver said yes. Rejects with a {@link SupervisionError} in every other case. */
export const confirm = (
  supervision: Supervision,
  request: ConfirmRequest,
  signal: AbortSignal | undefined,
): Promise<void> => (supervision.options.onEscalate ? askPerson : askHarness)(supervision, request, signal);

const askHarness = async (
  supervision: Supervision,
  { confirmationType, message, reason, toolName, eventType }: ConfirmRequest,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const details = { eventType: "confirmation", toolName } as const;
  const payload = {
    session_id: supervision.client.sessionId,
    confirmation_type: confirmationType,
    message: reason === "" ? message : `${message}\nReason: ${displayText(reason)}`,
    options: ["approve", "reject"],
  };
  const verdict = await supervision.ask("confirmation", payload, signal, details);
  const { decision } = verdict;
  if (decision.decision === "approve") return;
  if (verdict.origin === "client" && verdict.code === "not_handled") {
    const unanswered = `${reason} (the harness takes no confirmations, and onEscalate is not set)`;
    throw new SupervisionError("unavailable", unanswered, { eventType, toolName });
  }
  if (verdict.origin === "client") throw undecided(verdict, details);
  if (decision.decision === "reject") throw new SupervisionError("refused", decision.reason, details);
  throw new SupervisionError("unavailable", `${reason} (it was escalated again, not answered)`, details);
};

const askPerson = async (
  { options, clock }: Supervision,
  { confirmationType: _, ...request }: ConfirmRequest,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const { eventType, toolName } = request;
  const details = { eventType, toolName };
  const asked = await settleWithin<unknown>((stop) => options.onEscalate?.({ ...request, signal: stop }), {
    ...{ clock, signal, name: "the confirmation", timeoutMs: options.escalationTimeoutMs },
  });
  if (asked.status === "failed") {
    const { error: cause } = asked;
    throw new SupervisionError("unavailable", "asking for a confirmation failed", { ...details, cause });
  }
  if (asked.status !== "done") {
    const { status, error: cause } = asked;
    throw new SupervisionError(status, cause.message, { ...details, cause });
  }
  const { approved, reason } = (asked.value ?? {}) as Partial<EscalationAnswer>;
  if (approved === true) return;
  throw new SupervisionError("refused", typeof reason === "string" ? reason : "it was not approved", details);
};
