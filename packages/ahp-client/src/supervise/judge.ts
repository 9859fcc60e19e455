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
  /** The event's payload for a value. Throws a {@link SupervisionError} `unjudgeable`. */
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
  const supervisionError = (code: SupervisionErrorCode, reason: string, retryAfterMs?: number) =>
    new SupervisionError(code, reason, {
      ...details,
      retryAfterMs,
    });
  const assertWanted = (): void => {
    if (signal?.aborted) throw supervisionError("cancelled", "its caller cancelled it");
  };

  let value = first;
  let modifications = 0;
  let deferrals = 0;
  let deferredMs = 0;
  for (;;) {
    const payload = judged.toPayload(value);
    assertWanted();
    const verdict = await supervision.ask(eventType, payload, signal, details);
    const { decision } = verdict;
    switch (decision.decision) {
      case "block":
        throw verdict.origin === "client"
          ? undecided(verdict, details)
          : supervisionError(humanAnswerOf(decision) ? "refused" : "blocked", decision.reason);
      case "defer": {
        const { retry_after_ms: retryAfterMs, reason = "" } = decision;
        deferredMs += Math.max(0, retryAfterMs);
        if (++deferrals > maxDeferrals || deferredMs > maxDeferMs) {
          throw supervisionError("deferred", reason, retryAfterMs);
        }
        await wait(retryAfterMs, supervision.clock, signal);
        break;
      }
      case "escalate": {
        const { reason, escalation_target: target } = decision;
        const request = {
          ...details,
          reason,
          payload,
          message: judged.toMessage(value),
          confirmationType: "safety_confirm" as const,
          target,
          toolCallId,
        };
        await confirm(supervision, request, signal);
        assertWanted();
        return { value, wasModified: modifications > 0, wasConfirmed: true };
      }
      default: {
        const { modified_payload: modified } = decision;
        const next = modified === undefined ? value : await judged.modify(value, modified);
        if (next === value) {
          assertWanted();
          return { value, wasModified: modifications > 0, wasConfirmed: false };
        }
        if (++modifications > maxModifications) {
          throw supervisionError(
            "too_many_modifications",
            `maxModifications of ${maxModifications} is reached`,
          );
        }
        value = next;
      }
    }
  }
};
