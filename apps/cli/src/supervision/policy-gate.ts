import { describeLeftover, readModification } from "@harnesskit/ahp-client";
import type { Decision } from "@harnesskit/protocol/ahp";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import type {
  JudgedCall,
  JudgedPrompt,
  Judgement,
  PromptGate,
  PromptVerdict,
  ToolGate,
  ToolOutcome,
  ToolVerdict,
} from "@harnesskit/thread-server";
import { type Clock, displayText, jsonDifference } from "@harnesskit/wire";
import { type AskOptions, askPolicy, type PolicyAnswer } from "./ask-policy.ts";
import { Explainer } from "./explain.ts";
import type { HarnessLink } from "./harness-link.ts";

export interface PolicyGateOptions {
  readonly link: Pick<HarnessLink, "decide" | "notify">;
  /** What the policy is called until it says so itself. */
  readonly name: () => string;
  /** The agent that has the tools: the first part of their ids. */
  readonly toolAgent: string;
  readonly clock: Clock;
}

/** Characters of a result that a report has. */
const maxReportLength = 16_384;

/** The harness as the gate of a thread server: its decisions are the gate's verdicts, and whatever else it says is a block. */
export class PolicyGate {
  readonly #options: PolicyGateOptions;
  readonly #explainer: Explainer;

  constructor(options: PolicyGateOptions) {
    this.#options = options;
    this.#explainer = new Explainer(options.name);
  }

  readonly tools: Pick<ToolGate, "before"> = {
    before: (call, { signal }) => this.#judgeCall(call, signal),
  };

  readonly prompts: PromptGate = {
    before: (prompt, { signal }) => this.#judgePrompt(prompt, signal),
  };

  async #judgeCall(call: JudgedCall, signal: AbortSignal): Promise<ToolVerdict> {
    const payload: JsonObject = { ...toolCall(call), arguments: call.input };
    const event = { session: call.threadId, payload, metadata: this.#metadataOf(call) };
    const answer = await askPolicy("pre_action", event, this.#asking("this call", signal));
    if (!("decision" in answer)) return this.#refused(answer);
    const { decision } = answer;
    const judgement = this.#explainer.explain(decision);
    if (isStop(decision)) return toStop(decision, judgement);
    if (decision.modified_payload === undefined) return { verdict: "allow", judgement };
    const change = readModification(payload, decision.modified_payload, "arguments");
    if ("leftover" in change)
      return invalidChange("call", describeLeftover(change.leftover, "arguments"), judgement);
    const { wanted } = change;
    if (!isObject(wanted)) return invalidChange("call", "arguments is not an object", judgement);
    // The thread server sees to it that the tool takes it to the letter.
    return jsonDifference(wanted, call.input)
      ? { verdict: "modify", input: wanted, judgement }
      : { verdict: "allow", judgement };
  }

  async #judgePrompt(prompt: JudgedPrompt, signal: AbortSignal): Promise<PromptVerdict> {
    const { threadId, turnId, itemId, directory, agent, model, content, text } = prompt;
    const files = content.flatMap((part) => (part.type === "file" ? [part.path ?? part.uri ?? ""] : []));
    const payload: JsonObject = {
      prompt: text,
      ...(files.length > 0 && { files }),
      ...(model && { model: `${model.providerID}:${model.modelID}` }),
    };
    const metadata = { workspace: directory, thread_id: threadId, turn_id: turnId, prompt_id: itemId, agent };
    const event = { session: threadId, payload, metadata };
    const answer = await askPolicy("pre_prompt", event, this.#asking("this prompt", signal));
    if (!("decision" in answer)) return this.#refused(answer);
    const { decision } = answer;
    const judgement = this.#explainer.explain(decision);
    if (isStop(decision)) return toStop(decision, judgement);
    if (decision.modified_payload === undefined) return { verdict: "allow", judgement };
    const change = readModification(payload, decision.modified_payload, "prompt");
    if ("leftover" in change)
      return invalidChange("prompt", describeLeftover(change.leftover, "prompt"), judgement);
    const { wanted } = change;
    if (typeof wanted !== "string") return invalidChange("prompt", "prompt is not a string", judgement);
    return wanted === text ? { verdict: "allow", judgement } : { verdict: "modify", text: wanted, judgement };
  }

  /** Tells the harness how a call ended that it has judged. */
  report(call: JudgedCall, { status, output, error, code }: ToolOutcome): void {
    const payload: JsonObject = { ...toolCall(call), outcome: outcomes[status], status };
    if (output !== undefined)
      payload.result = clip(typeof output === "string" ? output : JSON.stringify(output));
    if (error !== undefined) payload.error = clip(error);
    if (code !== undefined) payload.code = code;
    this.#options.link.notify("post_action", {
      session: call.threadId,
      payload,
      metadata: this.#metadataOf(call),
    });
  }

  #metadataOf({ tool, directory, itemId, threadId, turnId }: JudgedCall): JsonObject {
    const toolId = `${this.#options.toolAgent}/${tool.name}`;
    return { tool_id: toolId, workspace: directory, call_id: itemId, thread_id: threadId, turn_id: turnId };
  }

  #asking(what: string, signal: AbortSignal): AskOptions {
    const { link, clock } = this.#options;
    return { link, clock, what, signal };
  }

  #refused({ code, reason }: Extract<PolicyAnswer, { code: string }>) {
    return { verdict: "block", code, reason, judgement: { by: this.#explainer.by, reason } } as const;
  }
}

type Stop = Extract<Decision, { decision: "block" | "escalate" }>;

const isStop = (decision: Decision): decision is Stop =>
  decision.decision === "block" || decision.decision === "escalate";

/** What does not go on by itself, a call or a prompt: it is blocked, or somebody is asked. */
const toStop = (decision: Stop, judgement: Judgement) => {
  const reason = safe(decision.reason);
  return decision.decision === "block"
    ? ({ verdict: "block", reason, code: "policy.blocked", judgement } as const)
    : ({ verdict: "ask", reason, judgement } as const);
};

/** A change that cannot be applied whole is not applied at all. */
const invalidChange = (what: "call" | "prompt", why: string, judgement: Judgement) =>
  ({
    verdict: "block",
    reason: safe(`The policy's change of this ${what} cannot be applied whole: ${why}.`),
    code: "policy.invalid_change",
    judgement,
  }) as const;

const toolCall = ({ tool, itemId }: JudgedCall): JsonObject => ({
  action_type: "tool_call",
  tool_name: tool.name,
  tool_call_id: itemId,
});

const outcomes: Readonly<Record<ToolOutcome["status"], string>> = {
  succeeded: "success",
  failed: "error",
  rejected: "refused",
  blocked: "blocked",
  cancelled: "cancelled",
  unknown: "unknown",
};

const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The harness's words: for people and for the model. */
const safe = (reason: string): string => displayText(reason, { multiline: true, maxLength: 2_000 });

const clip = (text: string): string =>
  text.length <= maxReportLength ? text : `${text.slice(0, maxReportLength)}…`;
