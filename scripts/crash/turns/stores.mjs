import { join } from "node:path";
import { summariesIn } from "./turn.mjs";

const openPostgres = async ({ url, schema }) => {
  const { openPostgresStore } = await import("../../../packages/store-postgres/dist/index.js");
  const limits = { threadLeaseMs: 1500, wakePollMs: 200, leasePollMs: 100, maxConnections: 4 };
  return openPostgresStore({ url, schema, limits });
};

/** The threads of a place: files, or a schema of a PostgreSQL server whose leases are short. */
export const openThreads = async (place) => {
  if (place.engine === "postgres") {
    const store = await openPostgres(place);
    return { threads: store.threads, close: () => store.close() };
  }
  const { createFileThreadStore } = await import("../../../packages/thread-server/dist/node.js");
  const threads = createFileThreadStore({ root: place.directory });
  return { threads, close: () => threads.close() };
};

/** The events of the one thread; none where it is not there yet. */
export const threadEvents = async (threads) => {
  const events = [];
  for (const { threadId } of await threads.list()) {
    for await (const event of threads.events(threadId)) events.push(event);
  }
  return events;
};

/** The names of the summaries that a log has, in order. */
export const summariesOf = (events) =>
  events
    .filter(({ type, data }) => type === "item.completed" && data.item.data?.summary)
    .flatMap(({ data }) => summariesIn(data.item.data.text));

/** The conversations of a place: a SQLite file, or a schema of a PostgreSQL server. */
export const openChats = async (place) => {
  if (place.engine === "postgres") {
    const store = await openPostgres(place);
    return { graph: store.graph, close: () => store.close() };
  }
  const { openSqliteStore } = await import("../../../packages/store-sqlite/dist/index.js");
  const graph = await openSqliteStore({ file: join(place.directory, "chat.sqlite") });
  return { graph, close: () => graph.close() };
};

export const chatSession = "the-session";

const isAnswer = ({ role }) => role === "assistant";

/** What is stored of the one conversation: its messages, its runs, how many answers of the model these have, and the names of the summaries. */
export const chatState = async (graph) => {
  const session = await graph.sessions.load(chatSession);
  const messages = session === null ? [] : JSON.parse(JSON.stringify(session.state.messages));
  const runs = await graph.runs.list({ sessionId: chatSession });
  const records = await Promise.all(runs.map(({ run_id: id }) => graph.runs.load(id)));
  const entries = records.flatMap((record) => record?.entries ?? []);
  const said = entries.flatMap(({ kind, update }) => (kind === "completed" && update?.messages) || []);
  const answers = Math.max(messages.filter(isAnswer).length, said.filter(isAnswer).length);
  const made = entries.filter(({ kind }) => kind === "effect_done").map(({ result }) => result?.text ?? "");
  const kept = session?.state.summary?.text ?? "";
  return { messages, runs, answers, summaries: summariesIn([kept, ...made].join(" ")) };
};
