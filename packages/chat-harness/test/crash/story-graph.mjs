/**
 * The texts of a conversation, by kind of message, the first word of it. `chat` is answered at once, `ask` and `job` wait for one
 * signal, `twice` for two. The signal of a `job` is named after its invocation; the others are named after the message.
 */
export const kindOf = (text) => text.split(" ", 1)[0];

/** The stages at which a message of a kind waits, in order. */
export const stagesOf = (text) =>
  ({ chat: [], ask: ["go"], job: ["go"], twice: ["first", "second"] })[kindOf(text)];

export const signalIdOf = (text, stage, invocationId) =>
  kindOf(text) === "job" ? `job of ${invocationId}` : `${text}: ${stage}`;

/** What the graph says, and what it notes of each signal. */
export const says = {
  reply: (text) => `you said ${text}`,
  question: (text, stage) => `${stage} of ${text}?`,
  done: (text, answer) => `did ${text} with ${answer}`,
  effect: (invocationId, signalId, answer) => `${invocationId} | ${signalId} | ${answer}`,
};

const said = (content) => ({ role: "assistant", content });

/** A Standard Schema, so that no library has to be found from here. */
const ofType = (type) => ({
  "~standard": {
    version: 1,
    vendor: "crash-story",
    validate: (value) =>
      typeof value === type ? { value } : { issues: [{ message: `expected a ${type}` }] },
  },
});

/**
 * The graph of the crash stories. The state counts the messages that were heard, and has an effect for each signal. `at` is called at
 * the start and the end of each node.
 *
 * @param {object} parts `defineGraph`, `defineState`, `append`, `lastWriteWins`, `END`, `messagesField`: of the build to be tried
 */
export const createStoryGraph = (
  { defineGraph, defineState, append, lastWriteWins, END, messagesField },
  at,
) => {
  const state = defineState({
    messages: messagesField(),
    effects: append(ofType("string")),
    heard: lastWriteWins(ofType("number"), { default: 0 }),
    topic: lastWriteWins(ofType("string"), { default: "" }),
    answer: lastWriteWins(ofType("string"), { default: "" }),
  });
  const ask =
    (stage) =>
    ({ topic }) => ({ messages: [said(says.question(topic, stage))] });
  const wait =
    (stage, options) =>
    ({ topic }, { invocationId, isResumed, suspend }) =>
      isResumed
        ? {}
        : suspend({ signal_id: signalIdOf(topic, stage, invocationId), metadata: { topic, stage } }, options);
  const note = (stage, { topic, answer }, { invocationId }) => ({
    effects: [says.effect(invocationId, signalIdOf(topic, stage, invocationId), answer)],
    answer: "",
  });
  const finish = (stage) => (now, context) => ({
    ...note(stage, now, context),
    messages: [said(says.done(now.topic, now.answer))],
  });
  return defineGraph(state)
    .node("hear", ({ messages, heard }) => ({ topic: messages.at(-1).content, heard: heard + 1 }))
    .node("reply", ({ topic }) => ({ messages: [said(says.reply(topic))] }))
    .node("ask", ask("go"))
    .node("wait", wait("go"))
    .node("work", wait("go", { markNodeCompleted: false }))
    .node("do", finish("go"))
    .node("askFirst", ask("first"))
    .node("waitFirst", wait("first"))
    .node("askSecond", (now, context) => ({ ...note("first", now, context), ...ask("second")(now) }))
    .node("waitSecond", wait("second"))
    .node("doBoth", finish("second"))
    .entry("hear")
    .conditionalEdge("hear", ({ topic }) =>
      kindOf(topic) === "chat" ? "reply" : kindOf(topic) === "twice" ? "askFirst" : "ask",
    )
    .edge("reply", END)
    .conditionalEdge("ask", ({ topic }) => (kindOf(topic) === "job" ? "work" : "wait"))
    .edge("wait", "do")
    .edge("work", "do")
    .edge("do", END)
    .edge("askFirst", "waitFirst")
    .edge("waitFirst", "askSecond")
    .edge("askSecond", "waitSecond")
    .edge("waitSecond", "doBoth")
    .edge("doBoth", END)
    .use(async (_, next, { nodeName }) => {
      at(`${nodeName} begins`);
      try {
        return await next();
      } finally {
        at(`${nodeName} ends`);
      }
    });
};
