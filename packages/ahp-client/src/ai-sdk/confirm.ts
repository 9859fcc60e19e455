import type { ConfirmationDecision } from "@harnesskit/protocol/ahp";
import { displayText } from "@harnesskit/wire";
import type { Verdict } from "../verdict.ts";
import { within } from "../within.ts";
import type { Supervision } from "./supervision.ts";
import { SupervisionError, type SupervisionErrorCode, undecided } from "./supervision-error.ts";
import type { EscalationAnswer, EscalationRequest } from "./supervision-options.ts";

/** What has to be confirmed, and how it is put. */
export interface ConfirmRequest extends Omit<EscalationRequest, "signal"> {
  /** `safety_confirm` where the harness escalated, `user_confirm` where the tool asks for it. */
  readonly confirmationType: "safety_confirm" | "user_confirm";
}

/** Settles when whoever can say yes did. Rejects with a {@link SupervisionError} in every other case. */
export const confirm = async (
  supervision: Supervision,
  request: ConfirmRequest,
  signal: AbortSignal | undefined,
): Promise<void> => {
  if (supervision.options.onEscalate) return askPerson(supervision, request, signal);
  const { confirmationType, message, reason, toolName, eventType } = request;
  const details = { eventType: "confirmation", ...(toolName && { toolName }) } as const;
  const payload = {
    session_id: supervision.client.sessionId,
    confirmation_type: confirmationType,
    message: reason === "" ? message : `${message}\nReason: ${displayText(reason)}`,
    options: ["approve", "reject"],
  };
  const verdict = await supervision.ask("confirmation", payload, signal, details);
  if (verdict.origin === "client" && verdict.code === "not_handled") {
    const text = `${reason} (the harness takes no confirmations, and there is no onEscalate)`;
    throw new SupervisionError("unavailable", text, toolName ? { eventType, toolName } : { eventType });
  }
  assertApproved(verdict, request);
};

const assertApproved = (
  verdict: Verdict<ConfirmationDecision>,
  { toolName, reason }: ConfirmRequest,
): void => {
  const details = { eventType: "confirmation", ...(toolName && { toolName }) } as const;
  const { decision } = verdict;
  if (decision.decision === "approve") return;
  if (verdict.origin === "client") throw undecided(verdict, details);
  if (decision.decision === "reject") throw new SupervisionError("refused", decision.reason, details);
  throw new SupervisionError(
    "unavailable",
    `${reason} (nobody answered: it was escalated once more)`,
    details,
  );
};

const answerOf = (answer: unknown): Partial<EscalationAnswer> =>
  typeof answer === "object" && answer !== null ? answer : {};

const failureCode = (code: unknown): SupervisionErrorCode => {
  if (code === "request_timeout") return "timed_out";
  return code === "request_cancelled" ? "cancelled" : "unavailable";
};

const askPerson = async (
  { options, clock }: Supervision,
  { confirmationType: _, ...request }: ConfirmRequest,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const details = { eventType: request.eventType, ...(request.toolName && { toolName: request.toolName }) };
  const timeoutMs = options.escalationTimeoutMs;
  let answer: unknown;
  try {
    answer = await within(async (stop) => options.onEscalate?.({ ...request, signal: stop.signal }), {
      clock,
      name: "the confirmation",
      timeoutMs,
      signal,
    });
  } catch (cause) {
    const code = failureCode((cause as { code?: unknown } | null)?.code);
    const text = code === "unavailable" ? "asking for a confirmation failed" : (cause as Error).message;
    throw new SupervisionError(code, text, { ...details, cause });
  }
  const { approved, reason } = answerOf(answer);
  if (approved === true) return;
  const text = typeof reason === "string" ? reason : "it was not approved";
  throw new SupervisionError("refused", text, details);
};
