import type { Decision } from "@harnesskit/protocol/ahp";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { confirm } from "./confirm.ts";
import { pause } from "./pause.ts";
import type { Supervision } from "./supervision.ts";
import { SupervisionError, type SupervisionErrorCode, undecided } from "./supervision-error.ts";

/** Something that must not happen before the harness has decided about it. */
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
  /** Whether somebody was asked about exactly this value, and approved it. */
  readonly wasConfirmed: boolean;
}

/** One judgement, from the first question to the decision that ends it. */
class Process<T> {
  readonly #supervision: Supervision;
  readonly #judged: Judged<T>;
  readonly #signal: AbortSignal | undefined;
  #modifications = 0;
  #deferrals = 0;
  #deferredMs = 0;

  constructor(supervision: Supervision, judged: Judged<T>, signal: AbortSignal | undefined) {
    this.#supervision = supervision;
    this.#judged = judged;
    this.#signal = signal;
  }

  async run(first: T): Promise<Judgement<T>> {
    let value = first;
    for (;;) {
      const payload = this.#judged.toPayload(value);
      const decision = await this.#ask(payload);
      switch (decision.decision) {
        case "allow":
        case "modify": {
          const { modified_payload: modified } = decision;
          const next = modified === undefined ? value : await this.#judged.modify(value, modified);
          if (next === value) return this.#done(value, false);
          this.#countModification();
          value = next;
          break;
        }
        case "defer":
          await this.#wait(decision.retry_after_ms, decision.reason ?? "");
          break;
        case "escalate":
          await this.#confirm(value, payload, decision);
          return this.#done(value, true);
        case "block":
          throw this.#error("blocked", decision.reason);
      }
    }
  }

  get #details() {
    const { eventType, toolName } = this.#judged;
    return toolName === undefined ? { eventType } : { eventType, toolName };
  }

  #error(code: SupervisionErrorCode, reason: string, retryAfterMs?: number): SupervisionError {
    const details = retryAfterMs === undefined ? this.#details : { ...this.#details, retryAfterMs };
    return new SupervisionError(code, reason, details);
  }

  #assertWanted(): void {
    if (this.#signal?.aborted) throw this.#error("cancelled", "its caller gave it up");
  }

  #done(value: T, wasConfirmed: boolean): Judgement<T> {
    this.#assertWanted();
    return { value, wasConfirmed, wasModified: this.#modifications > 0 };
  }

  async #ask(payload: JsonObject): Promise<Decision> {
    this.#assertWanted();
    const { eventType } = this.#judged;
    const verdict = await this.#supervision.ask(eventType, payload, this.#signal, this.#details);
    const { decision } = verdict;
    if (verdict.origin === "client" && decision.decision === "block") throw undecided(verdict, this.#details);
    return decision;
  }

  #countModification(): void {
    const { maxModifications } = this.#supervision.options;
    if (++this.#modifications <= maxModifications) return;
    throw this.#error("too_many_modifications", `maxModifications of ${maxModifications} is reached`);
  }

  /** Waits as long as it was told to, or not at all. */
  async #wait(retryAfterMs: number, reason: string): Promise<void> {
    const { clock, options } = this.#supervision;
    this.#deferredMs += Math.max(0, retryAfterMs);
    if (++this.#deferrals > options.maxDeferrals || this.#deferredMs > options.maxDeferMs) {
      throw this.#error("deferred", reason, retryAfterMs);
    }
    await pause(clock, retryAfterMs, this.#signal);
  }

  #confirm(value: T, payload: JsonObject, escalation: Decision & { decision: "escalate" }): Promise<void> {
    const { eventType, toolName, toolCallId, toMessage } = this.#judged;
    const { reason, escalation_target: target } = escalation;
    return confirm(
      this.#supervision,
      {
        eventType,
        reason,
        payload,
        message: toMessage(value),
        confirmationType: "safety_confirm",
        ...(target !== undefined && { target }),
        ...(toolName !== undefined && { toolName }),
        ...(toolCallId !== undefined && { toolCallId }),
      },
      this.#signal,
    );
  }
}

/**
 * Asks the harness until it allows or forbids, and gives what may happen. What it modifies is validated and judged again;
 * what it defers is asked again after the time that it says; what it escalates is confirmed. Rejects with
 * a {@link SupervisionError} in every other case.
 */
export const judge = <T>(
  supervision: Supervision,
  judged: Judged<T>,
  value: T,
  signal: AbortSignal | undefined,
): Promise<Judgement<T>> => new Process(supervision, judged, signal).run(value);
