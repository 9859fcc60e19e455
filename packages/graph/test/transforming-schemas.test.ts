import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  append,
  boundedAppend,
  createMemoryStore,
  defineGraph,
  defineState,
  END,
  type GraphStore,
  lastWriteWins,
  merge,
  mergeByKey,
} from "../src/index.ts";

/** A schema that changes its own output: what passes twice ends with two marks. */
const marked = z.string().transform((text) => `${text}!`);

const state = defineState({
  value: lastWriteWins(marked, { default: "default" }),
  map: merge(marked),
  recent: boundedAppend(marked, { maxLength: 5 }),
  records: mergeByKey(z.object({ id: z.string(), text: marked }), { key: "id" }),
  log: append(marked),
  done: lastWriteWins(z.boolean(), { default: false }),
});

const values = {
  value: "a!",
  map: { key: "b!" },
  recent: ["c!"],
  records: [{ id: "1", text: "d!" }],
  log: ["e!"],
};

const createGraph = (store: GraphStore, isPausing = false) =>
  defineGraph(state)
    .node("fill", ({ log }) =>
      log.length > 0
        ? {}
        : { value: "a", map: { key: "b" }, recent: ["c"], records: [{ id: "1", text: "d" }], log: ["e"] },
    )
    .node("ask", (_, { suspend }) => (isPausing ? suspend({ signal_id: "s" }) : {}))
    .entry("fill")
    .edge("fill", "ask")
    .edge("ask", END)
    .compile({ store });

/** A store that keeps sessions as JSON, as one in another process would. */
const jsonStore = (): GraphStore => {
  const memory = createMemoryStore();
  const { sessions } = memory;
  return {
    ...memory,
    sessions: {
      ...sessions,
      load: async (id) => JSON.parse(JSON.stringify(await sessions.load(id))),
      history: async (id, limit) => JSON.parse(JSON.stringify(await sessions.history(id, limit))),
    },
  };
};

describe("a schema that transforms", () => {
  it.each([
    ["shares lists", createMemoryStore],
    ["returns JSON", jsonStore],
  ])("does not see its own output when a session is loaded from a store that %s", async (_, open) => {
    const store = open();
    expect((await createGraph(store).invoke({ sessionId: "s" })).state).toMatchObject(values);
    const again = await createGraph(store).invoke({ sessionId: "s" });
    expect(again.entry_state).toMatchObject(values);
    expect(again.state).toMatchObject(values);
    expect((await createGraph(store).getState("s"))?.state).toMatchObject(values);
  });

  it("does not see its own output when a run is resumed, and sees what the signal brings", async () => {
    for (const store of [createMemoryStore(), jsonStore()]) {
      const graph = createGraph(store, true);
      const { invocation_id: resumeInvocation } = await graph.invoke({ sessionId: "s" });
      const signalPayload = { value: "new", done: true };
      const ended = await createGraph(store, true).invoke({ resumeInvocation, signalPayload });
      expect(ended.state).toMatchObject({ ...values, value: "new!", done: true });
    }
  });

  it("does not see the fields that middleware passes on unchanged", async () => {
    const seen: unknown[] = [];
    const graph = defineGraph(state)
      .use((received, next) => next({ ...received, done: true }))
      .node("fill", () => ({ value: "a", map: { key: "b" }, log: ["e"] }))
      .node("read", (received) => {
        seen.push({ ...received, log: [...received.log] });
      })
      .entry("fill")
      .edge("fill", "read")
      .edge("read", END)
      .compile();
    await graph.invoke();
    expect(seen).toMatchObject([{ value: "a!", map: { key: "b!" }, log: ["e!"], done: true }]);
  });
});
