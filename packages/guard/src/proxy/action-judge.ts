import {
  type AhpClient,
  describeLeftover,
  readModification,
  type SessionState,
} from "@harnesskit/ahp-client";
import type { Decision } from "@harnesskit/protocol/ahp";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { type Clock, callSafely, createDeferred, displayText, systemClock, wait } from "@harnesskit/wire";
import { settleWithin } from "@harnesskit/wire/time";

/** What an agent wants to do, as the harness is asked about it. */
export interface ProxiedAction {
  readonly tool: string;
  /** Names the call to the harness, from the question to the outcome. */
  readonly callId: string;
  /** What it does, in the words of policies: `run`, `write`, `mcp`, … */
  readonly kind: string;
  readonly arguments: JsonObject;
  /** Further fields of the event's payload. */
  readonly details?: JsonObject;
  readonly metadata?: JsonObject;
}

/** What becomes of an action. */
export type ActionRuling =
  | { readonly ruling: "forward"; readonly arguments: JsonObject; readonly isModified: boolean }
  | { readonly ruling: "refuse"; readonly reason: string };

/** What came of an action. */
export type ActionOutcome =
  | { readonly outcome: "success"; readonly result: JsonValue }
  | { readonly outcome: "error"; readonly error: string; readonly result?: JsonValue }
  /** Whether it was done is not known, or it was given up before it was decided. */
  | { readonly outcome: "unknown" | "cancelled"; readonly error: string };

export interface DecideOptions {
  /** How long it may wait for a decision, in milliseconds. */
  readonly holdMs: number;
  readonly signal: AbortSignal;
}

export interface ActionJudgeOptions {
  /** The way to the harness. It stays its owner's to close. */
  readonly client: AhpClient;
  /** How long a harness may be away before an action is refused, in milliseconds. @default 10000 */
  readonly awayMs?: number;
  readonly clock?: Clock;
}

/** How much longer an answer is waited for than the harness was asked to take. */
const answerMarginMs = 2000;

const refuse = (reason: string): ActionRuling => ({ ruling: "refuse", reason });
const safe = (text: string): string => displayText(text, { maxLength: 2000 });

/** Asks a harness about actions, and reports what came of them. Without its answer nothing is allowed. */
export class ActionJudge {
  readonly #client: AhpClient;
  readonly #awayMs: number;
  readonly #clock: Clock;

  constructor({ client, awayMs = 10_000, clock = systemClock }: ActionJudgeOptions) {
    this.#client = client;
    this.#awayMs = awayMs;
    this.#clock = clock;
  }

  /**
   * The decision about an action. A `defer` is asked again while there is time; the last one is a refusal with its reason, which
   * names the approval that waits. Never rejects.
   */
  async decide(action: ProxiedAction, { holdMs, signal }: DecideOptions): Promise<ActionRuling> {
    const dueAtMs = this.#clock.now() + holdMs;
    try {
      if (!(await this.#isReady(signal))) return refuse("the harness gave no decision: it is not there");
      for (;;) {
        const leftMs = Math.max(1, dueAtMs - this.#clock.now());
        const decision = await this.#ask(action, leftMs, signal);
        if (signal.aborted) return refuse("the call was cancelled");
        if (decision.decision !== "defer") return this.#rule(action, decision);
        const retryMs = Math.max(1, decision.retry_after_ms);
        if (this.#clock.now() + retryMs >= dueAtMs) {
          return refuse(safe(decision.reason ?? "no decision in time; repeat the same call later"));
        }
        await wait(retryMs, this.#clock, signal);
        if (signal.aborted) return refuse("the call was cancelled");
      }
    } catch (error) {
      return refuse(
        `the harness gave no decision: ${safe(error instanceof Error ? error.message : "it failed")}`,
      );
    }
  }

  /** Reports what came of an action that was decided. Never throws. */
  report(action: ProxiedAction, outcome: ActionOutcome, durationMs: number): void {
    callSafely(() => {
      const payload = { ...payloadOf(action), ...outcome, duration_ms: Math.max(0, Math.round(durationMs)) };
      this.#client.notify("post_action", payload, { metadata: action.metadata ?? {} });
    });
  }

  /** Waits a while for a harness that is away. */
  async #isReady(signal: AbortSignal): Promise<boolean> {
    const client = this.#client;
    if (client.state === "ready") return true;
    // The first connection may have failed for good: the harness may be there by now.
    if (client.state === "new" || client.state === "lost") client.connect({ retry: true }).catch(() => {});
    const ready = createDeferred<void>();
    const forget = client.onState((state) => {
      if (state === "ready" || state === "closed") ready.resolve();
    });
    const name = "the harness";
    await settleWithin(ready.promise, { name, timeoutMs: this.#awayMs, signal, clock: this.#clock });
    forget();
    return (client.state as SessionState) === "ready";
  }

  async #ask(action: ProxiedAction, leftMs: number, signal: AbortSignal): Promise<Decision> {
    const verdict = await this.#client.decide("pre_action", payloadOf(action), {
      metadata: { ...action.metadata, wait_ms: leftMs },
      timeoutMs: leftMs + answerMarginMs,
      signal,
    });
    return verdict.decision;
  }

  #rule(action: ProxiedAction, decision: Exclude<Decision, { decision: "defer" }>): ActionRuling {
    switch (decision.decision) {
      case "block":
        return refuse(safe(decision.reason || "refused by the policy"));
      case "escalate":
        return refuse(safe(`a human has to decide, and cannot be asked here: ${decision.reason}`));
      default: {
        const { modified_payload: modified } = decision;
        if (modified === undefined)
          return { ruling: "forward", arguments: action.arguments, isModified: false };
        const read = readModification(payloadOf(action), modified, "arguments");
        if ("leftover" in read) {
          return refuse(
            `the harness's change cannot be applied: ${describeLeftover(read.leftover, "arguments")}`,
          );
        }
        const { wanted } = read;
        if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted)) {
          return refuse("the harness's change cannot be applied: arguments is not an object");
        }
        return { ruling: "forward", arguments: wanted, isModified: true };
      }
    }
  }
}

const payloadOf = (action: ProxiedAction) => ({
  ...action.details,
  action_type: "tool_call",
  tool_name: action.tool,
  tool_call_id: action.callId,
  action: action.kind,
  arguments: action.arguments,
});
