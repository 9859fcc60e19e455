import type { ThreadGates, ThreadVerdict } from "@harnesskit/ahp-client/thread-gates";
import { type ChatHarness, ChatHarnessError } from "@harnesskit/chat-harness";
import type { ThreadTool } from "@harnesskit/core-runtime/thread-tools";
import type { HubPlace } from "@harnesskit/hub/place";
import type { ChatMessage, ChatTurnOutcome } from "@harnesskit/protocol/chat";
import type { ChatConversations } from "@harnesskit/shell-engine-chat";
import { digest, HarnessError, randomId } from "@harnesskit/wire";
import { type PreparedCall, prepareCall, ToolError, type ToolScope } from "@harnesskit/wire/tool";
import type { PolicyChoice } from "../supervision/policy-choice.ts";
import type { Supervision } from "../supervision/supervision.ts";
import type { BlockedCall } from "../timeline/judgements.ts";
import { chosenHub } from "./find-hub.ts";

export interface HubOptions {
  /** The state's directory of a hub; false for `--no-hub`. @default the user's hub, if it runs */
  readonly hub?: string | false;
}

export interface HubJudgeOptions {
  /** The command, such as "chat". */
  readonly command: string;
  readonly hub: HubOptions["hub"] | undefined;
  /** What judges where no hub does; what it asks, {@link HubJudge.asks} says. @default nothing judges */
  readonly policy?: Exclude<PolicyChoice, { kind: "none" | "hub" }> | undefined;
  /** How long a decision of `policy` may take, in milliseconds. @default 10000 */
  readonly policyTimeoutMs?: number | undefined;
  readonly workspace: string;
  readonly version: string;
  readonly note: (line: string) => void;
  /** Receives who answered a question: untrusted text. @default not reported */
  readonly onAnswered?: ((line: string) => void) | undefined;
  /** Receives a call that the policy blocks, and its id. @default not reported */
  readonly onBlocked?: ((call: BlockedCall, callId: string) => void) | undefined;
}

/** The hub, or the policy, that judges the calls of conversations. */
export interface HubJudge {
  /** The hub; undefined where a policy judges. */
  readonly place: HubPlace | undefined;
  /** Why the policy wants the user asked about a prepared call: untrusted text; undefined where it does not. A hub asks by itself. */
  asks(callId: string): string | undefined;
  /** The tools, each of whose calls waits for the judge before it runs, and is reported to it. A hub alone asks the user. */
  judged(tools: readonly ThreadTool[]): readonly ThreadTool[];
  /** Conversations, each of whose prompts waits for the hub. */
  conversations(harness: ChatHarness): ChatConversations;
  /** Idempotent. */
  close(): Promise<void>;
}

/** How long a call may take, with the time in which a human answers. */
export const hubToolTimeoutMs = 24 * 60 * 60_000;

/** How often the hub may change one call. */
const maxChanges = 3;

const never = new AbortController().signal;

/** Prepares a call, and asks the hub about what would run. Rejects with a `ToolError` that has the hub's reason. */
const prepareJudged = async (
  { seams: { gate } }: Supervision,
  { workspace, onAnswered, onBlocked }: Pick<HubJudgeOptions, "workspace" | "onAnswered" | "onBlocked">,
  asked: Map<string, string> | undefined,
  tool: ThreadTool,
  given: unknown,
  scope: ToolScope,
): Promise<PreparedCall & Required<Pick<PreparedCall, "run">>> => {
  const { callId, threadId = callId, signal = never } = scope;
  const { name, id } = tool;
  let input = given;
  for (let changes = 0; changes <= maxChanges; changes++) {
    const { run, ...ready } = await prepareCall(tool, input, scope);
    const call = {
      ...{ threadId, turnId: threadId, itemId: callId, directory: workspace, ...ready },
      tool: id === undefined ? { name } : { name, id },
    };
    const verdict = await gate.before(call, { signal });
    if (signal.aborted) {
      // The hub withdraws its question.
      gate.after(call, { status: "cancelled" });
      throw new ToolError("tool.cancelled", "It was cancelled.");
    }
    reportAnswer(name, verdict, onAnswered);
    if (verdict.verdict === "modify") {
      input = verdict.input;
      continue;
    }
    if (verdict.verdict === "block") {
      const judgement = { decision: "block", ...verdict.judgement } as const;
      if (verdict.human === undefined) onBlocked?.({ tool: name, input: ready.input, judgement }, callId);
      throw new ToolError(verdict.code, verdict.reason);
    }
    if (verdict.verdict === "ask") {
      if (asked === undefined) throw new ToolError("policy.not_asked", verdict.reason);
      asked.set(callId, verdict.reason);
    } else asked?.delete(callId);
    return {
      ...ready,
      async run(context) {
        try {
          const output = await run(context);
          gate.after(call, { status: "succeeded", ...reported(output) });
          return output;
        } catch (error) {
          const status = context.signal.aborted ? "unknown" : "failed";
          const message = error instanceof Error ? error.message : "it does not say why";
          const code = HarnessError.isInstance(error) ? { code: error.code } : {};
          gate.after(call, { status, error: message, ...code });
          throw error;
        }
      },
    };
  }
  throw new ToolError("policy.invalid_change", `The hub changed this call more than ${maxChanges} times.`);
};

/** The answer of a human is reported; a decision of the policy alone is not one. */
const reportAnswer = (
  what: string,
  verdict: ThreadVerdict<object>,
  onAnswered: HubJudgeOptions["onAnswered"],
): void => {
  if (!("human" in verdict) || verdict.human === undefined) return;
  const { status, grant, by, note } = verdict.human;
  const how = status === "rejected" ? "refused by" : grant ? "allowed by a grant of" : "approved by";
  const why = note === undefined ? "" : `: ${note}`;
  onAnswered?.(`${what}: ${how} ${by}${why}`);
};

const reported = (output: unknown) => {
  const text = typeof output === "string" ? output : JSON.stringify(output);
  return text === undefined ? {} : { output: text };
};

/**
 * The hub that was named, else the user's, if it runs, else `policy`. Rejects with a `CliError` `hub_unavailable` where the named one does not run.
 */
export const openHubJudge = async ({
  command,
  hub,
  policy,
  policyTimeoutMs,
  workspace,
  version,
  note,
  onAnswered,
  onBlocked,
}: HubJudgeOptions): Promise<HubJudge | undefined> => {
  const place = hub === false ? undefined : await chosenHub(hub);
  const choice = place === undefined ? policy : ({ kind: "hub", state: place.directory } as const);
  if (choice === undefined) return undefined;
  const { openSupervision } = await import("../supervision/supervision.ts");
  const timeoutMs = place === undefined ? policyTimeoutMs : undefined;
  const supervision = await openSupervision({ choice, workspace, version, timeoutMs, note });
  const asked = place === undefined ? new Map<string, string>() : undefined;
  return {
    place,
    asks: (callId) => asked?.get(callId),
    judged: (tools) =>
      tools.map((tool) => ({
        ...tool,
        // The hub asks by itself.
        ...(place !== undefined && { effects: "read" as const }),
        prepare: (input, scope) =>
          prepareJudged(supervision, { workspace, onAnswered, onBlocked }, asked, tool, input, scope),
      })),
    conversations: (harness) =>
      judgePrompts(harness, {
        ...{ gate: supervision.seams.promptGate, workspace, agent: command },
        onVerdict: (verdict) => reportAnswer("prompt", verdict, onAnswered),
      }),
    close: () => supervision.close(),
  };
};

interface JudgePromptsOptions {
  readonly gate: ThreadGates["promptGate"];
  readonly workspace: string;
  /** How the user's command is called, such as "chat". */
  readonly agent: string;
  readonly onVerdict: (verdict: ThreadVerdict<object>) => void;
}

interface Prompt {
  readonly text: string;
  /** What is beside the text: its kind, and its digest, which a question is bound to. */
  readonly others: readonly string[];
}

const promptOf = async ({ content = "" }: ChatMessage): Promise<Prompt> => {
  if (typeof content === "string") return { text: content, others: [] };
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const others = content.filter((block) => block.type !== "text");
  return {
    text: texts.join("\n\n"),
    others: await Promise.all(others.map(async (block) => `${block.type} ${await digest(block)}`)),
  };
};

/** A message with another text; undefined for one whose texts cannot be told apart in it. */
const withText = (message: ChatMessage, text: string): ChatMessage | undefined => {
  const { content } = message;
  if (typeof content === "string") return { ...message, content: text } as ChatMessage;
  if (content?.filter(({ type }) => type === "text").length !== 1) return undefined;
  const changed = content.map((block) => (block.type === "text" ? { ...block, text } : block));
  return { ...message, content: changed } as ChatMessage;
};

const refusedPrompt = (code: string, reason: string): ChatTurnOutcome => ({
  outcome: "errored",
  error_bucket: "user_correctable",
  error_category: code,
  reply: { role: "system", content: reason },
});

/**
 * Conversations, each of whose prompts waits for the hub before its turn begins. A prompt that it refuses is an `errored` outcome with the
 * hub's code and reason, and is not part of the conversation. Nothing of a prompt that waits is stored here: after a kill the same
 * prompt, said again, finds its answer.
 */
const judgePrompts = (
  harness: ChatHarness,
  { gate, workspace, agent, onVerdict }: JudgePromptsOptions,
): ChatConversations => ({
  async send(sessionId, message, options = {}) {
    const signal = options.signal ?? new AbortController().signal;
    const { text, others } = await promptOf(message);
    const place = { threadId: sessionId, turnId: randomId("turn"), itemId: randomId("prompt") };
    const content = others.map((uri) => ({ type: "file" as const, uri }));
    const verdict = await gate.before({ ...place, directory: workspace, agent, text, content }, { signal });
    onVerdict(verdict);
    if (signal.aborted) throw new ChatHarnessError("turn_cancelled", "the turn was cancelled");
    if (verdict.verdict === "block") return refusedPrompt(verdict.code, verdict.reason);
    if (verdict.verdict === "ask") return refusedPrompt("policy.not_asked", verdict.reason);
    if (verdict.verdict === "allow") return harness.send(sessionId, message, options);
    const changed = withText(message, verdict.text);
    if (changed !== undefined) return harness.send(sessionId, changed, options);
    return refusedPrompt("policy.invalid_change", "The hub changed the text of a prompt that has several.");
  },
  signal: (signal, options) => harness.signal(signal, options),
  pending: (sessionId) => harness.pending(sessionId),
  acknowledge: (invocationId) => harness.acknowledge(invocationId),
  recover: (options) => harness.recover(options),
});
