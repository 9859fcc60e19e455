import { InvalidArgumentError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { createMemoryStore, type GraphStore } from "../src/index.ts";
import { seedSession } from "../src/testing/index.ts";
import { failure, line, logs } from "./support/graphs.ts";

const asking = (store: GraphStore) =>
  line(
    {
      add: ({ count }) => ({ log: [`run ${count + 1}`], count: count + 1 }),
      ask: ({ count, approved }, { suspend }) =>
        count % 2 === 0 && approved === null
          ? suspend({ signal_id: `approve ${count}`, metadata: { kind: "approval" } })
          : {},
      end: logs("end"),
    },
    { store },
  );

describe("getState", () => {
  it("gives the state that the next run would load, and that nothing waits", async () => {
    const store = createMemoryStore();
    const graph = asking(store);
    expect(await graph.getState("s")).toBeNull();
    const { state } = await graph.invoke({ sessionId: "s" });
    const found = await graph.getState("s");
    expect(found).toMatchObject({ session_id: "s", status: "idle", waiting: [] });
    expect(found?.state).toEqual(state);
    expect(found?.version).toBe((await store.sessions.load("s"))?.version);
  });

  it("says what waits for a signal, the oldest first, and no more once that has gone on", async () => {
    const graph = asking(createMemoryStore());
    await graph.invoke({ sessionId: "s" });
    const paused = await graph.invoke({ sessionId: "s" });
    await graph.invoke({ sessionId: "t", initial: { count: 1 } });
    const waiting = await graph.getState("s");
    expect(waiting).toMatchObject({
      status: "suspended",
      state: { log: ["run 1", "end", "run 2"], count: 2 },
      waiting: [
        {
          invocation_id: paused.invocation_id,
          descriptor: { signal_id: "approve 2", metadata: { kind: "approval" } },
          node_name: "ask",
          namespace: ["ask"],
        },
      ],
    });
    expect(waiting?.waiting).toHaveLength(1);
    await graph.invoke({ resumeInvocation: paused.invocation_id, signalPayload: { approved: true } });
    expect(await graph.getState("s")).toMatchObject({
      status: "idle",
      waiting: [],
      state: { approved: true },
    });
  });

  it("gives the states that were saved, the current one first, as many as are asked for", async () => {
    const graph = asking(createMemoryStore());
    await graph.invoke({ sessionId: "s" });
    const paused = await graph.invoke({ sessionId: "s" });
    await graph.invoke({ resumeInvocation: paused.invocation_id, signalPayload: { approved: true } });
    const all = await graph.getState("s");
    expect(all?.history.map(({ state }) => state?.log)).toEqual([
      ["run 1", "end", "run 2", "end"],
      ["run 1", "end", "run 2"],
      ["run 1", "end"],
    ]);
    expect(all?.history[0]).toMatchObject({ version: all?.version, state: all?.state, schema_version: "" });
    const few = await graph.getState("s", { historyLimit: 2 });
    expect(few?.history).toEqual(all?.history.slice(0, 2));
    expect((await graph.getState("s", { historyLimit: 0 }))?.history).toEqual([]);
  });

  it("keeps as many states of a session as the store may", async () => {
    const graph = asking(createMemoryStore({ limits: { maxHistory: 3 } }));
    for (let run = 0; run < 6; run++) await graph.invoke({ sessionId: "s", initial: { approved: true } });
    expect((await graph.getState("s"))?.history.map(({ state }) => state?.count)).toEqual([6, 5, 4]);
  });

  it("migrates what older versions have saved, and has null for what cannot be", async () => {
    const store = createMemoryStore();
    for (const [schemaVersion, value] of [
      ["0", 1],
      ["1", 2],
    ] as const) {
      await seedSession(store, { sessionId: "s", state: { old: value }, schemaVersion });
    }
    const migrate = ({ old }: { old?: unknown }) => ({ count: (old as number | undefined) ?? 0 });
    const session = { schemaVersion: "2", migrations: [{ from: "1", to: "2", migrate }] };
    const found = await line({ a: logs("a") }, { store, session }).getState("s");
    expect(found?.state).toEqual({ log: [], count: 2, approved: null });
    expect(found?.history.map(({ schema_version, state }) => [schema_version, state?.count])).toEqual([
      ["1", 2],
      ["0", undefined],
    ]);
    expect(found?.history[1]?.state).toBeNull();
  });

  it("gives the pause and its session of one moment", async () => {
    const inner = createMemoryStore();
    const graph = asking(inner);
    await graph.invoke({ sessionId: "s" });
    let isFirst = true;
    const { suspensions } = inner;
    const racing: GraphStore = {
      ...inner,
      suspensions: {
        ...suspensions,
        list: async (filter) => {
          const found = await suspensions.list(filter);
          if (isFirst) {
            isFirst = false;
            await graph.invoke({ sessionId: "s" });
          }
          return found;
        },
      },
    };
    const found = await asking(racing).getState("s");
    expect(found).toMatchObject({ status: "suspended", state: { count: 2 } });
  });

  it("rejects without a store, for what is no session id and no limit, and where the store fails", async () => {
    const plain = line({ a: logs("a") });
    await expect(plain.getState("s")).rejects.toBeInstanceOf(InvalidArgumentError);
    const graph = asking(createMemoryStore());
    await expect(graph.getState("")).rejects.toBeInstanceOf(InvalidArgumentError);
    for (const historyLimit of [-1, 1.5, Number.NaN]) {
      await expect(graph.getState("s", { historyLimit })).rejects.toBeInstanceOf(InvalidArgumentError);
    }
    const store = createMemoryStore();
    await asking(store).invoke({ sessionId: "s" });
    await store.close();
    expect(await failure(asking(store).getState("s"))).toMatchObject({
      code: "session_load_failed",
      cause: { code: "store_closed" },
    });
    const other = createMemoryStore();
    await seedSession(other, { sessionId: "s", state: { count: "x" } });
    expect((await failure(asking(other).getState("s"))).code).toBe("session_load_failed");
  });
});
