import { summariesIn } from "./turn.mjs";

export const chatSession = "the-session";

const isAnswer = ({ role }) => role === "assistant";

/**
 * What is stored of the one thread or conversation: `recorded` answers of the model, the names of the `summaries` in order, and the
 * thread's `events` or the conversation's `messages` and `runs`.
 */
export const stateOf = {
  async thread({ threads }) {
    const events = [];
    for (const { threadId } of await threads.list()) {
      for await (const event of threads.events(threadId)) events.push(event);
    }
    const summaries = events
      .filter(({ type, data }) => type === "item.completed" && data.item.data?.summary)
      .flatMap(({ data }) => summariesIn(data.item.data.text));
    return { events, recorded: events.filter(({ type }) => type === "turn.step").length, summaries };
  },
  async chat({ graph }) {
    const session = await graph.sessions.load(chatSession);
    const messages = session === null ? [] : JSON.parse(JSON.stringify(session.state.messages));
    const runs = await graph.runs.list({ sessionId: chatSession });
    const records = await Promise.all(runs.map(({ run_id: id }) => graph.runs.load(id)));
    const entries = records.flatMap((record) => record?.entries ?? []);
    const said = entries.flatMap(({ kind, update }) => (kind === "completed" && update?.messages) || []);
    const made = entries.filter(({ kind }) => kind === "effect_done").map(({ result }) => result?.text ?? "");
    const summaries = summariesIn([session?.state.summary?.text ?? "", ...made].join(" "));
    const recorded = Math.max(messages.filter(isAnswer).length, said.filter(isAnswer).length);
    return { messages, runs, recorded, summaries };
  },
};
