import { createChatHarness, messagesField } from "@harnesskit/chat-harness";
import { createMemoryStore, defineGraph, defineState, END } from "@harnesskit/graph";
import { Annotation, MemorySaver, START, StateGraph } from "@langchain/langgraph";

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
