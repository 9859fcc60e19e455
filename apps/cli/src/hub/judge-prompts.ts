import type { ThreadGates, ThreadVerdict } from "@harnesskit/ahp-client/thread-gates";
import { type ChatHarness, ChatHarnessError } from "@harnesskit/chat-harness";
import type { ChatMessage, ChatTurnOutcome } from "@harnesskit/protocol/chat";
import type { ChatConversations } from "@harnesskit/shell-engine-chat";
import { digest, randomId } from "@harnesskit/wire";

export interface JudgePromptsOptions {
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
export const judgePrompts = (
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
