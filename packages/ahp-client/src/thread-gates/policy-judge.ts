import type { Decision, EventContext } from "@harnesskit/protocol/ahp";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { type Clock, displayText, jsonDifference, wait } from "@harnesskit/wire";
import { defined, isObject } from "@harnesskit/wire/json";
import type { AhpClient } from "../client-options.ts";
import type { FailureCode } from "../errors.ts";
import { hasExpired, humanAnswerOf } from "../human-answer.ts";
import { type ChangeableField, describeLeftover, readModification } from "../modification.ts";
import type {
  ThreadCall,
  ThreadJudgement,
  ThreadPrompt,
  ThreadRequest,
  ThreadVerdict,
} from "./thread-types.ts";

export interface PolicyJudgeOptions {
  readonly client: Pick<AhpClient, "decide">;
  /** The policy's name until a decision contains it. */
  readonly name: () => string;
  /** The metadata of a call's events. */
  readonly metadataOf: (call: ThreadCall) => JsonObject;
  /** What an event says of its session. */
  readonly contextOf: (threadId: string) => EventContext | undefined;
  /** How long a decision may wait for a human. */
  readonly waitMs: number | undefined;
  readonly clock: Clock;
}

interface Question {
  readonly eventType: "pre_action" | "pre_prompt";
  readonly subject: "call" | "prompt";
  readonly payload: JsonObject;
  /** The part of the payload that a decision may change. */
  readonly changeable: ChangeableField;
  readonly sessionId: string;
  readonly metadata: JsonObject;
  readonly signal: AbortSignal;
}

type Refusal = { readonly code: string; readonly reason: string };

/** How often one action may be deferred, and for how long in all. */
const maxDeferrals = 3;
const maxDeferMs = 60_000;

/** How a reason names its rule if the decision has no other place for it. */
const namedRule = /\((?:rule|limit) ([^()]{1,100})\)$/;

const safeReason = (reason: string): string => displayText(reason, { multiline: true, maxLength: 2_000 });

/** Names a question about a prompt; further requests about it have names of their own. */
export const promptIdOf = (prompt: ThreadPrompt | ThreadRequest): string =>
  "step" in prompt ? `${prompt.itemId}/${prompt.step}` : prompt.itemId;

/** The code of what its caller gave up before it was decided. */
export const cancelledCode = "tool.cancelled";

export const toolCallPayload = ({ tool, itemId }: ThreadCall): JsonObject => ({
  action_type: "tool_call",
  tool_name: tool.name,
  tool_call_id: itemId,
});

/** Turns a harness's decisions into verdicts of a thread server's gates; everything else is a block with its reason. */
export class PolicyJudge {
  readonly #options: PolicyJudgeOptions;
  #name: string | undefined;

  constructor(options: PolicyJudgeOptions) {
    this.#options = options;
  }

  judgeCall(call: ThreadCall, signal: AbortSignal): Promise<ThreadVerdict<{ readonly input: JsonObject }>> {
    const question: Question = {
      eventType: "pre_action",
      subject: "call",
      changeable: "arguments",
      sessionId: call.threadId,
      signal,
      payload: { ...toolCallPayload(call), arguments: call.input },
      metadata: defined({ ...this.#options.metadataOf(call), preview: call.preview }),
    };
    return this.#judge(question, (wanted) => {
      if (!isObject(wanted)) return "arguments is not an object";
      // The thread server ensures that the tool takes it exactly.
      return jsonDifference(wanted, call.input) ? { input: wanted as JsonObject } : undefined;
    });
  }

  /** @param further what the payload of a further request says besides */
  judgePrompt(
    prompt: ThreadPrompt,
    signal: AbortSignal,
    further: JsonObject = {},
  ): Promise<ThreadVerdict<{ readonly text: string }>> {
    const { threadId, turnId, directory, agent, model, content, text } = prompt;
    const files = content.flatMap((part) => (part.type === "file" ? [part.path ?? part.uri ?? ""] : []));
    const question: Question = {
      eventType: "pre_prompt",
      subject: "prompt",
      changeable: "prompt",
      sessionId: threadId,
      signal,
      payload: defined({
        prompt: text,
        files: files.length > 0 ? files : undefined,
        model: model ? `${model.providerID}:${model.modelID}` : undefined,
        ...further,
      }),
      metadata: {
        workspace: directory,
        thread_id: threadId,
        turn_id: turnId,
        prompt_id: promptIdOf(prompt),
        agent,
      },
    };
    return this.#judge(question, (wanted) => {
      if (typeof wanted !== "string") return "prompt is not a string";
      return wanted === text ? undefined : { text: wanted };
    });
  }

  /** @param toChange what a changed payload becomes; undefined for no change, a string says why it cannot be applied */
  async #judge<Change extends object>(
    question: Question,
    toChange: (wanted: JsonValue | undefined) => Change | string | undefined,
  ): Promise<ThreadVerdict<Change>> {
    const { payload, changeable, subject } = question;
    const decision = await this.#ask(question);
    if ("code" in decision) {
      return { verdict: "block", ...decision, judgement: { by: this.#by, reason: decision.reason } };
    }
    const judgement = this.#explain(decision);
    const block = (code: string, reason: string) => ({ verdict: "block", code, reason, judgement }) as const;
    if (decision.decision === "escalate") {
      return { verdict: "ask", reason: safeReason(decision.reason), judgement };
    }
    const human = humanAnswerOf(decision);
    if (human?.status === "rejected") {
      const note = human.note === undefined ? "." : `: ${safeReason(human.note)}`;
      const reason = `This ${subject} was rejected by ${displayText(human.by, { maxLength: 200 })}${note}`;
      const code = changeable === "arguments" ? "tool.rejected" : "prompt.rejected";
      return { ...block(code, reason), isRejection: true, human };
    }
    if (hasExpired(decision)) {
      return { ...block("approval.expired", `This ${subject} was not approved in time.`), isRejection: true };
    }
    if (decision.decision === "block") return block("policy.blocked", safeReason(decision.reason));
    const { modified_payload: modified } = decision;
    const read = modified === undefined ? undefined : readModification(payload, modified, changeable);
    const change =
      read && ("leftover" in read ? describeLeftover(read.leftover, changeable) : toChange(read.wanted));
    if (change === undefined) return { verdict: "allow", judgement, human };
    if (typeof change === "object") return { verdict: "modify", ...change, judgement };
    // A change that cannot be applied whole is not applied at all.
    const reason = `The policy's change of this ${subject} cannot be applied whole: ${change}.`;
    return block("policy.invalid_change", safeReason(reason));
  }

  /** Asks until the harness has decided, and waits as long as it says, within limits. Never rejects. */
  async #ask(question: Question): Promise<Exclude<Decision, { decision: "defer" }> | Refusal> {
    const { eventType, payload, sessionId, signal } = question;
    const { client, clock, contextOf, waitMs: patienceMs } = this.#options;
    const metadata = defined({ ...question.metadata, wait_ms: patienceMs });
    const subject = `this ${question.subject}`;
    let deferredMs = 0;
    for (let deferrals = 0; ; deferrals++) {
      let verdict: Awaited<ReturnType<AhpClient["decide"]>>;
      try {
        const fields = { session_id: sessionId, metadata, signal, context: contextOf(sessionId) };
        verdict = await client.decide(eventType, payload, fields);
      } catch (error) {
        return undecided("unsendable", describeError(error), subject);
      }
      if (verdict.origin === "client") {
        const why = `${displayText(verdict.error.message, { maxLength: 300 })} (${verdict.code})`;
        return undecided(verdict.code, why, subject);
      }
      const decision = verdict.decision as Decision;
      if (decision.decision !== "defer") return decision;
      const { retry_after_ms: waitMs, reason } = decision;
      deferredMs += Math.max(0, waitMs);
      const isTooLong = deferrals === maxDeferrals || deferredMs > maxDeferMs;
      if (patienceMs === undefined && isTooLong) {
        const why = reason === undefined ? "" : `: ${displayText(reason, { maxLength: 500 })}`;
        return { code: "policy.deferred", reason: `The policy puts ${subject} off for too long${why}` };
      }
      await wait(waitMs, clock, signal);
    }
  }

  get #by(): string {
    return `policy ${this.#name ?? displayText(this.#options.name(), { maxLength: 100 })}`;
  }

  /** The policy and the rule of a decision, as far as the harness says. */
  #explain(decision: Decision): ThreadJudgement {
    const metadata = "metadata" in decision && isObject(decision.metadata) ? decision.metadata : {};
    const policy = isObject(metadata.policy) ? metadata.policy : {};
    this.#name = displayOrUndefined(policy.name, 100) ?? this.#name;
    const reason = displayOrUndefined("reason" in decision ? decision.reason : policy.why, 500);
    const rule = displayOrUndefined(policy.rule, 100) ?? (reason && namedRule.exec(reason)?.[1]);
    return { by: this.#by, rule, reason };
  }
}

/** Why the harness did not decide, in the codes of a thread server. */
const undecided = (failure: FailureCode, why: string, subject: string): Refusal => {
  const outcome = `so it did not happen: ${why}`;
  switch (failure) {
    case "timeout":
      return { code: "gate.timeout", reason: `The policy did not judge ${subject} in time, ${outcome}` };
    case "unsendable":
      return { code: "gate.unjudgeable", reason: `${subject} cannot be judged, ${outcome}` };
    case "cancelled":
      return { code: cancelledCode, reason: "It was cancelled." };
    default:
      return { code: "gate.unavailable", reason: `No policy can judge ${subject}, ${outcome}` };
  }
};

const describeError = (error: unknown): string => {
  const code = isObject(error) && typeof error.code === "string" ? ` (${error.code})` : "";
  return `${displayText(error instanceof Error ? error.message : String(error), { maxLength: 300 })}${code}`;
};

const displayOrUndefined = (value: unknown, maxLength: number): string | undefined =>
  typeof value === "string" && value !== "" ? displayText(value, { maxLength }) : undefined;
