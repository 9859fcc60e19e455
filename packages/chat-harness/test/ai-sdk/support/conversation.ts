import { type ChatApprovalAnswer, toApprovalPayload } from "@harnesskit/chat-harness";
import { type ChatEvent, type ChatGraphOptions, createChatGraph } from "@harnesskit/chat-harness/ai-sdk";
import type { GraphStore } from "@harnesskit/graph";
import { createMemoryStore } from "@harnesskit/graph";
import type { ChatMessage } from "@harnesskit/protocol/chat";

/** A chat graph over a store of its own, or over one that another process left. */
export const converse = (options: ChatGraphOptions, store: GraphStore = createMemoryStore()) => {
  const events: ChatEvent[] = [];
  const graph = createChatGraph({ onEvent: (event) => events.push(event), ...options }).compile({ store });
  const sessionId = "s1";
  return {
    graph,
    store,
    events,
    send: (content: string, signal?: AbortSignal) =>
      graph.invoke({
        sessionId,
        initial: { messages: [{ role: "user", content }] },
        ...(signal === undefined ? {} : { signal }),
      }),
    answer: (invocationId: string, answer: ChatApprovalAnswer, signal?: AbortSignal) =>
      graph.invoke({
        resumeInvocation: invocationId,
        signalPayload: toApprovalPayload(answer),
        ...(signal === undefined ? {} : { signal }),
      }),
    history: async (): Promise<ChatMessage[]> => {
      const stored = await store.sessions.load(sessionId);
      return JSON.parse(JSON.stringify(stored?.state.messages ?? [])) as ChatMessage[];
    },
  };
};

/** A message in short. */
export const brief = (message: ChatMessage): string => {
  if (message.role === "tool") return `${message.tool_call_id} → ${message.content}`;
  const calls = message.role === "assistant" ? (message.tool_calls ?? []).map(({ id }) => id) : [];
  const text = typeof message.content === "string" ? message.content : JSON.stringify(message.content ?? "");
  return `${message.role}: ${text}${calls.length > 0 ? ` (${calls.join(", ")})` : ""}`;
};
