import { createChatHarness, messagesField } from "@harnesskit/chat-harness";
import { createMemoryStore, defineGraph, defineState, END, lastWriteWins } from "@harnesskit/graph";
import { Annotation, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import * as z from "zod";

const answer = () => ({ messages: [{ role: "assistant", content: "That is so." }] });
/** What every turn of every contender begins with. */
export const question = { role: "user", content: "Is that so?" };

/** The trivial graph of a conversation: one node, which adds a message, after the time that a model takes. */
const chatGraph = (modelMs) =>
  defineGraph(defineState({ messages: messagesField() }))
    .node(
      "answer",
      modelMs > 0 ? () => new Promise((resolve) => setTimeout(resolve, modelMs, answer())) : answer,
    )
    .entry("answer")
    .edge("answer", END);

/** A conversation of harnesskit; a turn is a `send`. */
export const ourConversation = (store = createMemoryStore(), modelMs = 0) => {
  const harness = createChatHarness({ graph: chatGraph(modelMs), store });
  const turn = async (session = "s") => {
    const outcome = await harness.send(session, question);
    if (outcome.outcome !== "completed" || outcome.replies.length !== 1)
      throw new RangeError("the turn is wrong");
  };
  return { turn, close: () => harness.close() };
};

/** The same conversation of LangGraph, its messages plain objects; a turn is an `invoke` on its thread. */
export const theirConversation = (checkpointer = new MemorySaver()) => {
  const state = Annotation.Root({
    messages: Annotation({ reducer: (before, added) => before.concat(added), default: () => [] }),
  });
  const graph = new StateGraph(state)
    .addNode("answer", answer)
    .addEdge(START, "answer")
    .compile({ checkpointer });
  let length = 0;
  const turn = async () => {
    const { messages } = await graph.invoke({ messages: [question] }, { configurable: { thread_id: "s" } });
    length += 2;
    if (messages.length !== length) throw new RangeError("the turn is wrong");
  };
  return { turn, close: async () => {} };
};

const lineLength = 100;
const next = ({ count }) => ({ count: count + 1 });
const names = Array.from({ length: lineLength }, (_, index) => `node${index}`);

const demandEnd = ({ count }) => {
  if (count !== lineLength) throw new RangeError("the run is wrong");
};

/** A run of a graph of 100 nodes, one behind the other, that keeps nothing. */
export const ourLine = () => {
  let builder = defineGraph(defineState({ count: lastWriteWins(z.number(), { default: 0 }) }));
  for (const name of names) builder = builder.node(name, next);
  for (const [index, name] of names.entries()) builder = builder.edge(name, names[index + 1] ?? END);
  const graph = builder.entry(names[0]).compile();
  return async () => demandEnd((await graph.invoke()).state);
};

export const theirLine = () => {
  let builder = new StateGraph(Annotation.Root({ count: Annotation() }));
  for (const name of names) builder = builder.addNode(name, next);
  for (const [index, name] of names.entries()) builder = builder.addEdge(names[index - 1] ?? START, name);
  const graph = builder.compile();
  return async () => demandEnd(await graph.invoke({ count: 0 }, { recursionLimit: lineLength + 10 }));
};
