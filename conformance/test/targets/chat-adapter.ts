import { join } from "node:path";
import { type ChatHarness, createChatHarness, messagesField } from "@harnesskit/chat-harness";
import {
  append,
  boundedAppend,
  concatFlatten,
  dedupeAppend,
  defineGraph,
  defineState,
  END,
  type GraphStore,
  isSuspension,
  lastWriteWins,
  merge,
  mergeAll,
  mergeByKey,
  type SessionWrite,
  type StoreBatch,
  StoreError,
  wholeChanges,
} from "@harnesskit/graph";
import { openSqliteStore } from "@harnesskit/store-sqlite";
import * as z from "zod";
import type { CreateChatAdapter } from "./serve-adapter.ts";

type Json = any;

const fields = {
  messages: messagesField(),
  script: lastWriteWins(z.array(z.record(z.string(), z.any())), { default: [] }),
  cursor: lastWriteWins(z.number(), { default: 0 }),
  note: lastWriteWins(z.string(), { default: "none" }),
  answer: lastWriteWins(z.string(), { default: "" }),
  scratch: lastWriteWins(z.number(), { default: 0 }),
  list: append(z.string()),
  map: merge(z.any()),
  flat: concatFlatten(z.any()),
  all: mergeAll(z.any()),
  bounded: boundedAppend(z.number(), { maxLength: 3 }),
  unique: dedupeAppend(z.string()),
  keyed: mergeByKey(z.looseObject({}), { key: "id" as never }),
};
const stored = ["messages", "note", "answer", "list", "map", "flat", "all", "bounded", "unique", "keyed"];

const say = (content: string) => ({ messages: [{ role: "assistant" as const, content }] });
const thrownBy = ({ category, message, wrapped = 0 }: Json): Error => {
  let error = Object.assign(new Error(message), category === undefined ? {} : { category });
  for (let depth = 0; depth < wrapped; depth++) error = new Error("it failed", { cause: error });
  return error;
};

/** One step of a script, as the contract of the suite describes it. */
const doStep = async (step: Json, state: Json, context: Json): Promise<Json> => {
  if ("say" in step) return say(step.say);
  if ("add" in step) return { messages: step.add };
  if ("count" in step) return say(String(state.messages.length));
  if ("set" in step) return step.set;
  if ("show" in step) return say(String(state[step.show]));
  if ("save" in step) return void (await context.saveSession(step.save));
  if ("fail" in step) throw thrownBy(step.fail);
  if ("wait_ms" in step) return void (await new Promise((resolve) => setTimeout(resolve, step.wait_ms)));
  if ("ask" in step) {
    if (step.again && context.isResumed) return say(`again: ${state.answer}`);
    try {
      return context.suspend(step.ask, { markNodeCompleted: step.again !== true });
    } catch (error) {
      if (step.drop === undefined || !isSuspension(error)) throw error;
      return say(step.drop);
    }
  }
  return typeof step.branch === "string" ? { note: step.branch } : {};
};

const scriptIn = ({ content }: Json): Json[] => {
  try {
    return JSON.parse(content).conformance ?? [];
  } catch {
    return [];
  }
};

const graphOf = (state: Json, onRun: () => void): Json => {
  const next = ({ cursor, script }: Json) => (cursor < script.length ? "move" : END);
  return defineGraph(state as ReturnType<typeof defineState<typeof fields>>)
    .node("begin", ({ messages }) => {
      onRun();
      return { script: scriptIn(messages.at(-1)), cursor: 0 };
    })
    .node("move", ({ cursor }) => ({ cursor: cursor + 1 }))
    .node("step", (now, context) => doStep(now.script[now.cursor - 1], now, context))
    .node("at", ({ note }) => say(`at ${note}`))
    .entry("begin")
    .conditionalEdge("begin", next)
    .edge("move", "step")
    .conditionalEdge("step", (now: Json) => {
      if (!("branch" in now.script[now.cursor - 1])) return next(now);
      if (now.note === "throw") throw new Error("no way");
      return now.note === "nowhere" ? ("nowhere" as never) : "at";
    })
    .conditionalEdge("at", next);
};

const none = () => {};
const start = (state: Json): Json => defineGraph(state).node("a", none).node("b", none);
/** Graphs that do not compile. */
const broken: Record<string, (state: Json) => Json> = {
  "no-entry": (state) => start(state).edge("a", "b").edge("b", END),
  unreachable: (state) => start(state).entry("a").edge("a", END).edge("b", "a"),
  dangling: (state) => start(state).entry("a").edge("a", "b").edge("b", "nowhere"),
  "two-edges": (state) => start(state).entry("a").edge("a", "b").edge("a", END).edge("b", END),
  "no-edge": (state) => start(state).entry("a").edge("a", "b"),
  "two-nodes": (state) => start(state).node("b", none).entry("a").edge("a", "b").edge("b", END),
};

/** Graphs with a graph inside, by how its fields are copied in and out. */
const nested: Record<string, Json> = {
  nested: {},
  "nested-inputs": { inputs: { note: "note" } },
  "nested-outputs": { outputs: { note: "answer" } },
  "nested-projects": { projectsIn: ["note"], projectsOut: ["list"] },
  "nested-wait": { inputs: { note: "note" } },
};
const innerGraph = (waits: boolean) =>
  defineGraph(
    defineState({
      note: lastWriteWins(z.string(), { default: "inner" }),
      answer: fields.answer,
      list: append(z.string()),
    }),
  )
    .node("look", ({ note }) => ({ list: [`saw ${note}`], answer: "inner answer" }))
    .node("wait", ({ note }, { suspend }) => (waits ? suspend({ signal_id: note }) : {}))
    .node("after", ({ answer }) => ({ list: [`after ${answer}`] }))
    .entry("look")
    .edge("look", "wait")
    .edge("wait", "after")
    .edge("after", END)
    .compile();
const nestedGraph = (name: string, state: ReturnType<typeof defineState<typeof fields>>) =>
  defineGraph(state)
    .node("before", ({ messages }) => ({ list: ["before"], note: String(messages.at(-1)?.content) }))
    .subgraph("inner", { graph: innerGraph(name === "nested-wait"), ...nested[name] })
    .node("behind", () => ({ list: ["behind"] }))
    .entry("before")
    .edge("before", "inner")
    .edge("inner", "behind")
    .edge("behind", END);

const prefixed = (text: string) => (state: Json) => ({ ...state, note: `${text} ${state.note}` });
const migrations = [
  { from: "1", to: "2", migrate: prefixed("two") },
  { from: "2", to: "3", migrate: prefixed("three") },
  {
    from: "0",
    to: "3",
    migrate: () => {
      throw new Error("it cannot be migrated");
    },
  },
];
const sessions: Record<string, Json> = {
  versioned: { fields: stored, schemaVersion: "3", migrations },
  ambiguous: { fields: stored, schemaVersion: "3", migrations: [...migrations, migrations[0]] },
  "no-messages": {},
  "last-message": {},
};
const states: Record<string, Json> = {
  "no-messages": { ...fields, messages: undefined, note: fields.note },
  "no-limit": { ...fields, bounded: boundedAppend(z.number(), { maxLength: 0 }) },
  "last-message": { ...fields, messages: lastWriteWins(z.array(z.any()), { default: [] }) },
};

/** A store that counts what the harness does, and fails where the suite says so. */
const watch = (inner: GraphStore, counts: Json, faults: Set<string>): GraphStore => {
  const failAt = (what: string): void => {
    if (faults.delete(what)) throw new StoreError("store_failed", `it fails at ${what}`);
  };
  const save = async <T>(batch: StoreBatch, run: () => Promise<T>): Promise<T> => {
    if (batch.session) counts.saves += 1;
    if (batch.suspension?.kind === "put") failAt("suspend");
    if (batch.session) failAt("save");
    return await run();
  };
  return {
    ...inner,
    sessions: {
      ...inner.sessions,
      load: async (id) => {
        counts.loads += 1;
        failAt("load");
        return await inner.sessions.load(id);
      },
      save: (write) => save({ session: write }, () => inner.sessions.save(write)),
    },
    suspensions: inner.suspensions,
    commit: (batch) => save(batch, () => inner.commit(batch)),
    close: () => inner.close(),
  };
};

const toWrite = ({
  session_id: sessionId,
  state,
  schema_version: schemaVersion = "",
}: Json): SessionWrite => ({
  sessionId,
  schemaVersion,
  state,
  baseVersion: null,
  changes: wholeChanges(state) as SessionWrite["changes"],
});

/** The adapter of the suite over our chat harness, with its sessions in a file of SQLite. */
export const createChatAdapter: CreateChatAdapter = (directory, notify) => {
  const store = openSqliteStore({ file: join(directory, "chat.db") });
  const counts = { loads: 0, saves: 0, runs: 0 };
  const faults = new Set<string>();
  const subscriptions = new Map<string, () => void>();
  let harness: ChatHarness<never>;
  const scriptOr = (graph: string, state: Json) =>
    graph in nested ? nestedGraph(graph, state) : graphOf(state, () => counts.runs++);
  const methods: Record<string, (params: Json) => Promise<unknown>> = {
    async create({ graph }) {
      await harness?.close();
      const { messages, ...others } = states[graph] ?? fields;
      const state = defineState(messages === undefined ? others : { messages, ...others });
      harness = createChatHarness({
        graph: broken[graph]?.(state) ?? scriptOr(graph, state),
        store: watch(await store, counts, faults),
        session: sessions[graph] ?? { fields: stored },
        includeFinalState: true,
        onError: () => {},
      } as never) as never;
    },
    send: ({ session_id, message }) => harness.send(session_id, message),
    signal: ({ signal_id, invocation_id, payload }) =>
      harness.signal({ signalId: signal_id, invocationId: invocation_id, payload }),
    async subscribe({ session_id, fails }) {
      const subscription = `sub-${subscriptions.size + 1}`;
      const listener = (outcome: Json) => {
        if (fails) throw new Error("the listener failed");
        notify("delivered", { subscription, session_id, outcome });
      };
      subscriptions.set(subscription, harness.subscribe(session_id, listener));
      return { subscription };
    },
    unsubscribe: async ({ subscription }) => subscriptions.get(subscription)?.(),
    sessions: async () => ({ sessions: await (await store).sessions.list() }),
    session: async ({ session_id }) => ({ record: await (await store).sessions.load(session_id) }),
    seed: async (params) => await (await store).sessions.save(toWrite(params)),
    forget: async ({ session_id }) => await (await store).sessions.delete(session_id),
    fault: async ({ at }) => void faults.add(at),
    async counts() {
      const since = { ...counts };
      Object.assign(counts, { loads: 0, saves: 0, runs: 0 });
      return since;
    },
  };
  return {
    call: async (method, params) => await methods[method]?.(params),
    async close() {
      await harness?.close();
      await (await store).close();
    },
  };
};
