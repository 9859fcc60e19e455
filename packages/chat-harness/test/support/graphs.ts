import {
  defineGraph,
  defineState,
  END,
  type GraphStore,
  lastWriteWins,
  type NodeBody,
} from "@harnesskit/graph";
import type { AssistantMessage, ChatMessage, UserMessage } from "@harnesskit/protocol/chat";
import * as z from "zod";
import { messagesField } from "../../src/index.ts";

export const user = (content: string): UserMessage => ({ role: "user", content });
export const says = (content: string): AssistantMessage => ({ role: "assistant", content });

/** The state that most tests work with. */
export const fields = {
  messages: messagesField(),
  approved: lastWriteWins(z.boolean(), { default: false }),
  turns: lastWriteWins(z.number(), { default: 0 }),
};
export const state = defineState(fields);
export type TestFields = typeof fields;
type Body = NodeBody<TestFields>;

/** A graph whose nodes run one after the other. */
export const line = (nodes: Readonly<Record<string, Body>>) => {
  const names = Object.keys(nodes);
  let builder = defineGraph(state).node(names[0] as string, nodes[names[0] as string] as () => object);
  for (const name of names.slice(1)) builder = builder.node(name, nodes[name] as () => object);
  for (const [index, name] of names.entries()) builder = builder.edge(name, names[index + 1] ?? END);
  return builder.entry(names[0] as string);
};

/** The text of a message whose content is one. */
export const textOf = (message: ChatMessage | undefined): string =>
  typeof message?.content === "string" ? message.content : "";

/** A graph that answers each message with `echo TEXT`. */
export const echo = () =>
  line({ answer: ({ messages }) => ({ messages: [says(`echo ${textOf(messages.at(-1))}`)] }) });

/**
 * A graph that asks before it does what a message says, under the signal `approve TEXT`: it adds `may I TEXT?`, suspends, and
 * then adds `done` or `not done`. A message that begins with `chat` is answered at once.
 */
export const approval = () =>
  defineGraph(state)
    .node("begin", ({ messages }) =>
      textOf(messages.at(-1)).startsWith("chat")
        ? { messages: [says(`you said ${textOf(messages.at(-1))}`)] }
        : {},
    )
    .node("ask", ({ messages }) => ({ messages: [says(`may I ${textOf(messages.at(-1))}?`)] }))
    .node("wait", ({ messages }, { suspend }) =>
      suspend({ signal_id: `approve ${textOf(messages.at(-2))}`, metadata: { kind: "approval" } }),
    )
    .node("act", ({ approved }) => ({ messages: [says(approved ? "done" : "not done")], approved: false }))
    .entry("begin")
    .conditionalEdge("begin", ({ messages }) => (messages.at(-1)?.role === "assistant" ? END : "ask"))
    .edge("ask", "wait")
    .edge("wait", "act")
    .edge("act", END);

/** The texts that a store has of a session, in order. */
export const historyOf = async (store: GraphStore, sessionId: string): Promise<string[]> => {
  const record = await store.sessions.load(sessionId);
  return [...((record?.state.messages ?? []) as Iterable<ChatMessage>)].map(textOf);
};

/** A gate that bodies wait at; it tells how many are there. */
export const gate = () => {
  const waiting: (() => void)[] = [];
  return {
    wait: () => new Promise<void>((resolve) => waiting.push(resolve)),
    get count() {
      return waiting.length;
    },
    openOne: () => waiting.shift()?.(),
    openAll: () => {
      for (const open of waiting.splice(0)) open();
    },
  };
};
