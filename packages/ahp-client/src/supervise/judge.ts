import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { wait } from "@harnesskit/wire/time";
import { humanAnswerOf } from "../human-answer.ts";
import { confirm } from "./confirm.ts";
import type { Supervision } from "./supervision.ts";
import { SupervisionError, type SupervisionErrorCode, undecided } from "./supervision-error.ts";

/** An action that must not happen before the harness has decided about it. */
export interface Judged<T> {
  readonly eventType: "pre_action" | "pre_prompt";
  readonly toolName?: string;
  readonly toolCallId?: string;
  /** The event's payload for a value. */
  readonly toPayload: (value: T) => JsonObject;
  /**
   * The value that the harness wants instead, after its validation; the same one where nothing changes. Rejects with
   * a {@link SupervisionError} `invalid_modification`.
   */
  readonly modify: (value: T, modified: JsonValue) => Promise<T>;
  /** What would happen, for a person: safe to show and whole. */
  readonly toMessage: (value: T) => string;
}

export interface Judgement<T> {
  /** What may happen; nothing else. */
  readonly value: T;
  readonly wasModified: boolean;
  /** Whether a person was asked about exactly this value, and approved it. */
  readonly wasConfirmed: boolean;
}

/**
 * Asks the harness until it allows or forbids, and returns what may happen. What it modifies is validated and judged again;
 * what it defers is asked again after the time that it says; what it escalates is confirmed. Rejects with
 * a {@link SupervisionError} in every other case.
 */
export const judge = async <T>(
  supervision: Supervision,
  judged: Judged<T>,
  first: T,
  signal: AbortSignal | undefined,
): Promise<Judgement<T>> => {
  const { maxModifications, maxDeferrals, maxDeferMs } = supervision.limits;
  const { eventType, toolName, toolCallId } = judged;
  const details = { eventType, toolName };
  const refusal = (code: SupervisionErrorCode, reason: string, retryAfterMs?: number) =>
    new SupervisionError(code, reason, { ...details, retryAfterMs });
  let value = first;
  let modifications = 0;
  let deferrals = 0;
  let deferredMs = 0;
  const allowed = (wasConfirmed: boolean): Judgement<T> => {
    if (signal?.aborted) throw refusal("cancelled", "its caller cancelled it");
    return { value, wasModified: modifications > 0, wasConfirmed };
  };
  for (;;) {
    const payload = judged.toPayload(value);
    const verdict = await supervision.ask(eventType, payload, signal, details);
    if (verdict.origin === "client") throw undecided(verdict, details);
    const { decision } = verdict;
    switch (decision.decision) {
      case "block":
        throw refusal(humanAnswerOf(decision) ? "refused" : "blocked", decision.reason);
      case "defer": {
        const { retry_after_ms: retryAfterMs, reason = "" } = decision;
        deferredMs += Math.max(0, retryAfterMs);
        if (++deferrals > maxDeferrals || deferredMs > maxDeferMs) {
          throw refusal("deferred", reason, retryAfterMs);
        }
        await wait(retryAfterMs, supervision.clock, signal);
        break;
      }
      case "escalate": {
        const { reason, escalation_target: target } = decision;
        const message = judged.toMessage(value);
        const confirmationType = "safety_confirm" as const;
        const request = { ...details, reason, payload, message, confirmationType, target, toolCallId };
        await confirm(supervision, request, signal);
        return allowed(true);
      }
      default: {
        const { modified_payload: modified } = decision;
        const next = modified === undefined ? value : await judged.modify(value, modified);
        if (next === value) return allowed(false);
        if (++modifications > maxModifications) {
          throw refusal("too_many_modifications", `maxModifications of ${maxModifications} is reached`);
        }
        value = next;
      }
    }
  }
};
