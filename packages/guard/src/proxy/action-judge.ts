import {
  type AhpClient,
  type ChangeableField,
  describeLeftover,
  readModification,
  type SessionState,
} from "@harnesskit/ahp-client";
import type { Decision } from "@harnesskit/protocol/ahp";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { type Clock, callSafely, createDeferred, displayReason, systemClock, wait } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { settleWithin } from "@harnesskit/wire/time";
import { checkActionJudgeOptions } from "../option-names.ts";
import { objectOf } from "./rpc-message.ts";
import {
  type ActionOutcome,
  type ActionRuling,
  type DecideOptions,
  type LeftToClient,
  type PromptRuling,
  type ProxiedAction,
  type ProxiedPrompt,
  type Refusal,
  terminalTarget,
} from "./rulings.ts";

export interface ActionJudgeOptions {
  /** The way to the harness. It stays its owner's to close. */
  readonly client: AhpClient;
  /** How long a harness may be away before an action is refused, in milliseconds. @default 10000 */
  readonly awayMs?: number | undefined;
  readonly clock?: Clock | undefined;
}

/** How much longer an answer is waited for than the harness was asked to take. */
const answerMarginMs = 2000;
/** Characters of arguments that the report of an outcome repeats. */
const maxRepeatedLength = 64 * 1024;

const refuse = (reason: string): Refusal => ({ ruling: "refuse", reason });

/** What was decided; `changed` is what the harness wants in the place of the field's value. */
type Ruling<Value> = { readonly ruling: "forward"; readonly changed?: Value } | LeftToClient | Refusal;

/** What the harness is asked. */
interface Question<Value extends JsonValue> {
  readonly type: "pre_action" | "pre_prompt";
  readonly field: ChangeableField;
  readonly payload: JsonObject;
  readonly metadata: JsonObject;
  readonly session: string | undefined;
  /** The changed value; undefined where it cannot be used. */
  readonly take: (wanted: JsonValue) => Value | undefined;
}

const cancelled = "the call was cancelled";

/**
 * Asks a harness about actions and prompts, and reports what came of actions. Without its answer nothing is allowed. A change that the harness
 * makes is not asked about again: it is part of the decision.
 */
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
  async decide(action: ProxiedAction, options: DecideOptions): Promise<ActionRuling> {
    const question: Question<JsonObject> = {
      type: "pre_action",
      field: "arguments",
      payload: actionPayload(action),
      metadata: action.metadata ?? {},
      session: action.session,
      take: (wanted) => (isObject(wanted) ? (wanted as JsonObject) : undefined),
    };
    const ruling = await this.#settle(question, options);
    if (ruling.ruling !== "forward") return ruling;
    const { changed } = ruling;
    return { ruling: "forward", arguments: changed ?? action.arguments, isModified: changed !== undefined };
  }

  /** The decision about a prompt, in the same way; it passes where the harness does not advertise `pre_prompt`. Never rejects. */
  async decidePrompt(asked: ProxiedPrompt, options: DecideOptions): Promise<PromptRuling> {
    const question: Question<string> = {
      type: "pre_prompt",
      field: "prompt",
      payload: { ...asked.details, prompt: asked.prompt },
      metadata: { ...asked.metadata, call_id: asked.callId },
      session: asked.session,
      take: (wanted) => (typeof wanted === "string" ? wanted : undefined),
    };
    const ruling = await this.#settle(question, options);
    if (ruling.ruling !== "forward") return refuse(ruling.reason);
    const { changed } = ruling;
    return { ruling: "forward", prompt: changed ?? asked.prompt, isModified: changed !== undefined };
  }

  /** Reports what came of an action that was decided. Never throws. */
  report(action: ProxiedAction, outcome: ActionOutcome, durationMs: number): void {
    const payload = actionPayload(action);
    // The call's id says which action it was, and an event has a limit.
    const isLarge = JSON.stringify(action.arguments).length > maxRepeatedLength;
    this.#report(isLarge ? { ...payload, arguments: {} } : payload, action, outcome, durationMs);
  }

  /** Reports that a prompt was given up before it was decided, so that its question is withdrawn. Never throws. */
  withdraw({ callId, metadata, session }: Pick<ProxiedPrompt, "callId" | "metadata" | "session">): void {
    const payload = { tool_call_id: callId, tool_name: "prompt" };
    this.#report(payload, { metadata, session }, { outcome: "cancelled", error: cancelled }, 0);
  }

  /**
   * A question that only a human answers, whatever a policy allows by default. `unanswered` also without a harness, and for a `reject` that
   * does not name the answer of a human: the time was over, or the harness has no room for the question. The same message is the same
   * question in each process with this `session`. Never rejects.
   */
  async confirm(
    message: string,
    { holdMs, signal, session }: Pick<DecideOptions, "holdMs" | "signal"> & { readonly session: string },
  ): Promise<"approved" | "rejected" | "unanswered"> {
    try {
      if (!(await this.#isReady(signal))) return "unanswered";
      const payload = {
        session_id: session,
        confirmation_type: "user_confirm",
        message,
      } as const;
      const { origin, decision } = await this.#client.decide("confirmation", payload, {
        metadata: { wait_ms: holdMs },
        session_id: session,
        timeoutMs: holdMs + answerMarginMs,
        signal,
      });
      if (origin === "client") return "unanswered";
      if (decision.decision === "approve") return "approved";
      return decision.decision === "reject" && isHumansNo(decision) ? "rejected" : "unanswered";
    } catch {
      return "unanswered";
    }
  }

  /** Reports the begin or the end of an agent's session. Never throws. */
  note(type: "session_start" | "session_end", session: string, metadata: JsonObject): void {
    callSafely(() => this.#client.notify(type, {}, { metadata, session_id: session }));
  }

  #report(
    payload: JsonObject,
    { metadata = {}, session }: { metadata?: JsonObject | undefined; session?: string | undefined },
    outcome: ActionOutcome,
    durationMs: number,
  ): void {
    callSafely(() => {
      const all = { ...payload, ...outcome, duration_ms: Math.max(0, Math.round(durationMs)) };
      this.#client.notify("post_action", all, { metadata, session_id: session });
    });
  }

  async #settle<Value extends JsonValue>(
    question: Question<Value>,
    { holdMs, signal, asks = false }: DecideOptions,
  ): Promise<Ruling<Value>> {
    const dueAtMs = this.#clock.elapsedMs() + holdMs;
    try {
      if (!(await this.#isReady(signal))) return refuse("the harness gave no decision: it is not there");
      if (question.type === "pre_prompt" && !this.#judgesPrompts) return { ruling: "forward" };
      for (;;) {
        if (signal.aborted) return refuse(cancelled);
        const leftMs = Math.max(1, dueAtMs - this.#clock.elapsedMs());
        const decision = await this.#ask(question, leftMs, asks, signal);
        if (signal.aborted) return refuse(cancelled);
        if (decision.decision !== "defer") return rule(question, decision, asks);
        const retryMs = Math.max(1, decision.retry_after_ms);
        if (this.#clock.elapsedMs() + retryMs >= dueAtMs) {
          const reason = displayReason(decision.reason ?? "no decision in time; repeat the same call later");
          return { ruling: "refuse", reason, isPending: true };
        }
        await wait(retryMs, this.#clock, signal);
      }
    } catch (error) {
      return refuse(
        `the harness gave no decision: ${displayReason(error instanceof Error ? error.message : "it failed")}`,
      );
    }
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

  /** A harness says in its handshake what it decides about. */
  get #judgesPrompts(): boolean {
    return this.#client.harness?.harness_info.capabilities.includes("pre_prompt") ?? true;
  }

  async #ask(
    { type, payload, metadata, session }: Question<JsonValue>,
    leftMs: number,
    asks: boolean,
    signal: AbortSignal,
  ): Promise<Decision> {
    const verdict = await this.#client.decide(type, payload, {
      metadata: { ...metadata, wait_ms: leftMs, ...(asks && { host_asks: true }) },
      session_id: session,
      timeoutMs: leftMs + answerMarginMs,
      signal,
    });
    return verdict.decision;
  }
}

const rule = <Value extends JsonValue>(
  { payload, field, take }: Question<Value>,
  decision: Exclude<Decision, { decision: "defer" }>,
  asks: boolean,
): Ruling<Value> => {
  switch (decision.decision) {
    case "block":
      return refuse(displayReason(decision.reason || "refused by the policy"));
    case "escalate":
      return asks && decision.escalation_target === terminalTarget
        ? { ruling: "ask", reason: displayReason(decision.reason) }
        : refuse(displayReason(`a human has to decide, and cannot be asked here: ${decision.reason}`));
    default: {
      const { modified_payload: modified } = decision;
      if (modified === undefined) return { ruling: "forward" };
      const read = readModification(payload, modified, field);
      if ("leftover" in read) {
        return refuse(`the harness's change cannot be applied: ${describeLeftover(read.leftover, field)}`);
      }
      const changed = take(read.wanted);
      return changed === undefined
        ? refuse(`the harness's change cannot be applied: ${field} has the wrong type`)
        : { ruling: "forward", changed };
    }
  }
};

/** The hub names the approval in the metadata, with its status and who answered. */
const isHumansNo = ({ metadata }: { readonly metadata?: unknown }): boolean => {
  const { approval } = objectOf(metadata);
  const { status, by } = objectOf(approval);
  return status === "rejected" && typeof by === "string";
};

const actionPayload = (action: ProxiedAction): JsonObject => ({
  ...action.details,
  action_type: "tool_call",
  tool_name: action.tool,
  tool_call_id: action.callId,
  action: action.kind,
  arguments: action.arguments,
});

/** Creates a judge that asks the harness of a client. Throws `invalid_argument` for invalid options. */
export const createActionJudge = (options: ActionJudgeOptions): ActionJudge =>
  new ActionJudge(checkActionJudgeOptions(options));
