import type { JsonValue } from "@harnesskit/protocol/envelope";
import { createDeferred } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import {
  append,
  createMemoryStore,
  defineGraph,
  defineState,
  END,
  errorCategory,
  GraphCompileError,
  type GraphStore,
  lastWriteWins,
  type SessionOptions,
  type SessionWrite,
  StoreError,
} from "../src/index.ts";
import { firstWrite } from "../src/testing/store-samples.ts";
import { failure, line, logs, state, type TestFields } from "./support/graphs.ts";

/** A store whose calls are kept, and fail where a test says so. */
const watched = (fails: Partial<Record<"load" | "commit", unknown>> = {}) => {
  const store = createMemoryStore();
  const calls: string[] = [];
  const writes: SessionWrite[] = [];
  const spy: GraphStore = {
    ...store,
    sessions: {
      ...store.sessions,
      async load(id) {
        calls.push(`load ${id}`);
        if ("load" in fails) throw fails.load;
        return store.sessions.load(id);
      },
    },
    async commit(batch) {
      calls.push("commit");
      if ("commit" in fails) throw fails.commit;
      if (batch.session !== undefined) writes.push(batch.session);
      return store.commit(batch);
    },
  };
  return { store: spy, calls, writes, fails };
};

const counting = (options: { store: GraphStore; session?: SessionOptions<TestFields> }) =>
  line({ a: ({ count }) => ({ count: count + 1, log: [`turn ${count}`] }) }, options);

describe("sessions: loading (sessions §4)", () => {
  it("a run without a session id touches no store", async () => {
    const { store, calls } = watched();
    expect((await counting({ store }).invoke()).session_id).toBeNull();
    expect(calls).toEqual([]);
  });

  it("a session id without a store is told and kept nowhere", async () => {
    const graph = line({
      a: async (_, { sessionId, saveSession }) => ({ log: [`${sessionId} ${await saveSession()}`] }),
    });
    for (let turn = 0; turn < 2; turn++) {
      expect((await graph.invoke({ sessionId: "s" })).state.log).toEqual(["s false"]);
    }
  });

  it("is done before the first node, and saved at the end", async () => {
    const { store, calls } = watched();
    const graph = counting({ store });
    const first = await graph.invoke({ sessionId: "s" });
    const second = await graph.invoke({ sessionId: "s" });
    expect(first.entry_state).toMatchObject({ count: 0, log: [] });
    expect(second.entry_state).toMatchObject({ count: 1, log: ["turn 0"] });
    expect(first.state.log).toEqual(["turn 0"]);
    expect(second.state.log).toEqual(["turn 0", "turn 1"]);
    expect(calls).toEqual(["load s", "commit", "load s", "commit"]);
    expect(await store.sessions.list()).toMatchObject([{ session_id: "s", schema_version: "" }]);
  });

  it("that throws is session_load_failed, and nothing runs", async () => {
    const cause = new StoreError("store_failed", "disk");
    const { store, calls } = watched({ load: cause });
    const graph = line({ a: () => expect.fail("it runs") }, { store });
    expect(await failure(graph.invoke({ sessionId: "s" }))).toMatchObject({
      code: "session_load_failed",
      cause,
    });
    expect(calls).toEqual(["load s"]);
  });

  it("of a state that does not fit is session_load_failed with the cause", async () => {
    const store = createMemoryStore();
    await store.sessions.save(firstWrite("s", { count: "many" }, { schemaVersion: "" }));
    const error = await failure(counting({ store }).invoke({ sessionId: "s" }));
    expect(error).toMatchObject({
      code: "session_load_failed",
      cause: { code: "state_validation_error", fields: ["count"] },
    });
  });

  it("takes the place of defaults, and what is supplied is reduced onto it", async () => {
    const shape = defineState({
      list: append(z.string(), { default: ["default"] }),
      kept: append(z.string(), { default: ["default"] }),
      count: lastWriteWins(z.number(), { default: 1 }),
    });
    const graph = (store: GraphStore) =>
      defineGraph(shape)
        .node("n", () => {})
        .entry("n")
        .edge("n", END)
        .compile({ store });
    const store = createMemoryStore();
    await store.sessions.save(firstWrite("s", { list: ["stored"] }, { schemaVersion: "" }));
    const supplied = { list: ["supplied"], count: 9 };
    expect((await graph(store).invoke({ sessionId: "s", initial: supplied })).state).toEqual({
      list: ["stored", "supplied"],
      kept: ["default"],
      count: 9,
    });
    expect((await graph(store).invoke({ sessionId: "new", initial: supplied })).state).toEqual({
      list: ["supplied"],
      kept: ["default"],
      count: 9,
    });
    const seen: unknown[] = [];
    const initial = (loaded: unknown) => {
      seen.push(loaded);
      return { list: ["built"] };
    };
    expect((await graph(store).invoke({ sessionId: "s", initial })).state.list).toEqual([
      "stored",
      "supplied",
      "built",
    ]);
    expect((await graph(store).invoke({ sessionId: "other", initial })).state.list).toEqual(["built"]);
    expect(seen).toEqual([{ list: ["stored", "supplied"], kept: ["default"], count: 9 }, null]);
  });
});

describe("sessions: what is kept (sessions §3)", () => {
  it("are the fields that were named, under the names that were given", async () => {
    for (const [fields, stored] of [
      [undefined, { log: ["turn 0"], count: 1, approved: null }],
      [["log"], { log: ["turn 0"] }],
      [
        { log: "history", count: "n" },
        { history: ["turn 0"], n: 1 },
      ],
    ] as const) {
      const store = createMemoryStore();
      const graph = counting({ store, session: fields === undefined ? {} : { fields } });
      await graph.invoke({ sessionId: "s" });
      expect(JSON.parse(JSON.stringify((await store.sessions.load("s"))?.state))).toEqual(stored);
      const { state: next } = await graph.invoke({ sessionId: "s" });
      expect(next.log).toEqual(["turn 0", fields !== undefined && "0" in fields ? "turn 0" : "turn 1"]);
    }
  });

  it("says which tail of a list is new, however long it is", async () => {
    const { store, writes } = watched();
    const graph = counting({ store });
    for (let turn = 0; turn < 3; turn++) await graph.invoke({ sessionId: "s" });
    expect(writes.map(({ baseVersion, changes }) => [baseVersion, changes])).toEqual([
      [
        null,
        { fields: { count: 1, approved: null }, lists: { log: { keep: 0, items: ["turn 0"] } }, removed: [] },
      ],
      [1, { fields: { count: 2 }, lists: { log: { keep: 1, items: ["turn 1"] } }, removed: [] }],
      [2, { fields: { count: 3 }, lists: { log: { keep: 2, items: ["turn 2"] } }, removed: [] }],
    ]);
    const named = counting({ store, session: { fields: ["log"] } });
    await named.invoke({ sessionId: "s" });
    expect(writes.at(-1)?.changes).toEqual({
      fields: {},
      lists: { log: { keep: 3, items: ["turn 0"] } },
      removed: ["count", "approved"],
    });
  });

  it("is JSON", async () => {
    const shape = defineState({ x: lastWriteWins(z.unknown(), { default: null }), l: append(z.unknown()) });
    for (const value of [
      new Date(),
      Number.NaN,
      () => {},
      { deep: [1n] },
      [undefined],
      new Map(),
      Symbol("s"),
    ]) {
      for (const [field, update] of [
        ["x", { x: value }],
        ["l", { l: [value] }],
      ] as const) {
        const store = createMemoryStore();
        const graph = defineGraph(shape)
          .node("n", () => update)
          .entry("n")
          .edge("n", END)
          .compile({ store });
        expect(await failure(graph.invoke({ sessionId: "s" }))).toMatchObject({
          code: "session_save_failed",
          fields: [field],
        });
        expect((await graph.invoke()).outcome).toBe("completed");
        expect(await store.sessions.load("s")).toBeNull();
      }
    }
  });
});

describe("sessions: saving (sessions §5)", () => {
  it("that throws is session_save_failed behind a run that ended, and the session is as it was", async () => {
    const { store, fails } = watched();
    const graph = counting({ store });
    await graph.invoke({ sessionId: "s" });
    const cause = new TypeError("disk");
    fails.commit = cause;
    const error = await failure(graph.invoke({ sessionId: "s" }));
    expect(error).toMatchObject({ code: "session_save_failed", cause, recoverable_state: { count: 2 } });
    delete fails.commit;
    expect((await graph.invoke({ sessionId: "s" })).state.log).toEqual(["turn 0", "turn 1"]);
  });

  it("is not done for a run that fails, and not where it was switched off", async () => {
    const { store, calls } = watched();
    const fails = line({ a: logs("a"), b: () => Promise.reject(new TypeError("broken")) }, { store });
    await failure(fails.invoke({ sessionId: "s" }));
    expect(calls).toEqual(["load s"]);
    expect(await store.sessions.load("s")).toBeNull();
    await counting({ store }).invoke({ sessionId: "s" });
    const silent = counting({ store, session: { autoSave: false } });
    for (let turn = 0; turn < 2; turn++) {
      expect((await silent.invoke({ sessionId: "s" })).state.log).toEqual(["turn 0", "turn 1"]);
    }
  });

  it("in the middle of a node has the update merged, and outlives a failure", async () => {
    const { store, writes } = watched();
    const graph = line(
      {
        a: logs("a"),
        b: async (_, { saveSession }) => {
          expect(await saveSession({ log: ["b"], count: 7 })).toBe(true);
          if (writes.length === 1) throw new TypeError("broken");
          return { log: ["b"], count: 8 };
        },
      },
      { store },
    );
    await failure(graph.invoke({ sessionId: "s" }));
    const loaded = await store.sessions.load("s");
    expect(JSON.parse(JSON.stringify(loaded?.state))).toEqual({ log: ["a", "b"], count: 7, approved: null });
    const { state: final } = await graph.invoke({ sessionId: "s" });
    expect(final).toEqual({ log: ["a", "b", "a", "b"], count: 8, approved: null });
    expect(JSON.parse(JSON.stringify((await store.sessions.load("s"))?.state))).toEqual(final);
    expect(writes.map(({ changes }) => changes.lists)).toEqual([
      { log: { keep: 0, items: ["a", "b"] } },
      { log: { keep: 2, items: ["a", "b"] } },
      // The same list as was saved last.
      {},
    ]);
  });

  it("in the middle that fails is thrown there, and may be caught", async () => {
    const { store } = watched({ commit: new TypeError("disk") });
    const catches = line(
      {
        a: async (_, { saveSession }) => ({
          log: [(await saveSession().catch((error: { code: string }) => error.code)) as string],
        }),
      },
      { store, session: { autoSave: false } },
    );
    expect((await catches.invoke({ sessionId: "s" })).state.log).toEqual(["session_save_failed"]);
    const throws = line(
      {
        a: async (_, { saveSession }) => {
          await saveSession();
        },
      },
      { store },
    );
    const error = await failure(throws.invoke({ sessionId: "s" }));
    expect([error.code, errorCategory(error)]).toEqual(["node_exception", "session_save_failed"]);
  });

  it("is refused in a subgraph and after the node has ended, and refuses a wrong update", async () => {
    const { store, calls } = watched();
    const inner = line(
      {
        in: async (_, { saveSession }) => {
          await saveSession();
        },
      },
      { store },
    );
    const graph = defineGraph(state)
      .subgraph("s", { graph: inner })
      .entry("s")
      .edge("s", END)
      .compile({ store });
    expect(errorCategory(await failure(graph.invoke({ sessionId: "s" })))).toBe("session_save_failed");
    expect(calls).toEqual(["load s"]);
    let late: (() => Promise<boolean>) | undefined;
    const escaped = line(
      {
        a: (_, { saveSession }) => {
          late = saveSession;
        },
        b: async () => {
          await expect(late?.()).rejects.toMatchObject({ code: "session_save_failed" });
        },
      },
      { store },
    );
    await escaped.invoke({ sessionId: "s" });
    const wrong = line(
      {
        a: async (_, { saveSession }) => {
          await saveSession({ other: 1 } as never);
        },
      },
      { store },
    );
    expect(errorCategory(await failure(wrong.invoke({ sessionId: "s" })))).toBe("state_validation_error");
  });
});

describe("sessions: migrations (sessions §7)", () => {
  const stored = async (version: string, sample: Record<string, JsonValue> = { log: ["old"], n: 1 }) => {
    const store = createMemoryStore();
    await store.sessions.save(firstWrite("s", sample, { schemaVersion: version }));
    return store;
  };
  const step = (from: string, to: string) => ({
    from,
    to,
    migrate: (old: object) => ({ ...old, log: [...(old as { log: string[] }).log, `${from}>${to}`] }),
  });

  it("run by the shortest chain between load and merge, and what is saved has the new version", async () => {
    const store = await stored("1");
    const migrations = [step("1", "2"), step("2", "3"), step("3", "4"), step("2", "4"), step("4", "1")];
    const graph = counting({ store, session: { schemaVersion: "4", migrations } });
    expect((await graph.invoke({ sessionId: "s" })).state.log).toEqual(["old", "1>2", "2>4", "turn 0"]);
    const record = await store.sessions.load("s");
    expect(record?.schema_version).toBe("4");
    expect(Object.keys(record?.state ?? {})).toEqual(["log", "count", "approved"]);
    expect((await graph.invoke({ sessionId: "s" })).state.log).toHaveLength(5);
  });

  it("are not looked at with equal versions, and get a copy that they may change", async () => {
    const same = await stored("1", { log: ["old"] });
    const migrations = [{ from: "1", to: "1", migrate: () => expect.fail("it ran") }];
    expect(
      (
        await counting({ store: same, session: { schemaVersion: "1", migrations } }).invoke({
          sessionId: "s",
        })
      ).state.log,
    ).toEqual(["old", "turn 0"]);
    const store = await stored("");
    const mutate = (old: Record<string, unknown>) => {
      (old.log as string[]).push("new");
      delete old.n;
      return old as never;
    };
    const graph = counting({
      store,
      session: { schemaVersion: "1", autoSave: false, migrations: [{ from: "", to: "1", migrate: mutate }] },
    });
    for (let turn = 0; turn < 2; turn++)
      expect((await graph.invoke({ sessionId: "s" })).state.log).toEqual(["old", "new", "turn 0"]);
  });

  it("that are missing say what is there", async () => {
    const store = await stored("9");
    const graph = counting({ store, session: { schemaVersion: "2", migrations: [step("1", "2")] } });
    const error = await failure(graph.invoke({ sessionId: "s" }));
    expect(error).toMatchObject({
      code: "session_state_migration_missing",
      data: {
        from_version: "9",
        to_version: "2",
        registered_migrations_count: 1,
        registry_description: '"1" to "2"',
      },
    });
  });

  it("that are ambiguous do not compile, or do not run", async () => {
    const store = await stored("1");
    const twice = () => counting({ store, session: { migrations: [step("1", "2"), step("1", "2")] } });
    expect(twice).toThrow(GraphCompileError);
    expect(twice).toThrow(
      expect.objectContaining({
        code: "session_state_migration_chain_ambiguous",
        data: { from_version: "1", to_version: "2" },
      }),
    );
    const migrations = [step("1", "a"), step("1", "b"), step("a", "2"), step("b", "2")];
    const error = await failure(
      counting({ store, session: { schemaVersion: "2", migrations } }).invoke({ sessionId: "s" }),
    );
    expect(error).toMatchObject({
      code: "session_state_migration_chain_ambiguous",
      data: { from_version: "1", to_version: "2" },
    });
  });

  it("that throw or give no object say which, and nothing else runs", async () => {
    const store = await stored("1");
    const cause = new TypeError("broken");
    const never = { from: "2", to: "3", migrate: () => expect.fail("it ran") };
    for (const [migrate, expected] of [
      [
        () => {
          throw cause;
        },
        { cause },
      ],
      [() => [], {}],
      [async () => null, {}],
    ] as const) {
      const migrations = [{ from: "1", to: "2", migrate: migrate as never }, never];
      const graph = line(
        { a: () => expect.fail("it ran") },
        { store, session: { schemaVersion: "3", migrations } },
      );
      const error = await failure(graph.invoke({ sessionId: "s" }));
      expect(error).toMatchObject({
        code: "session_state_migration_failed",
        data: { from_version: "1", to_version: "2" },
        ...expected,
      });
    }
  });
});

describe("sessions: several runs at once (sessions §8)", () => {
  const racing = (store: GraphStore, session: SessionOptions<TestFields>) => {
    const gates = [createDeferred<void>(), createDeferred<void>()];
    const entered: string[] = [];
    const graph = line(
      {
        a: async (_, { metadata }) => {
          entered.push(String(metadata.name));
          await gates[Number(metadata.name)]?.promise;
          return { log: [String(metadata.name)] };
        },
      },
      { store, session },
    );
    const run = (name: number) => graph.invoke({ sessionId: "s", metadata: { name } });
    return { gates, entered, run };
  };

  it("the last write wins, whole", async () => {
    const store = createMemoryStore();
    await line({ a: logs("first") }, { store }).invoke({ sessionId: "s" });
    const { gates, entered, run } = racing(store, {});
    const [one, two] = [run(0), run(1)];
    await expect.poll(() => entered.length).toBe(2);
    gates[1]?.resolve();
    await two;
    gates[0]?.resolve();
    expect((await one).state.log).toEqual(["first", "0"]);
    expect(JSON.parse(JSON.stringify((await store.sessions.load("s"))?.state.log))).toEqual(["first", "0"]);
  });

  it("an optimistic run that comes late is session_write_conflict", async () => {
    for (const isNew of [true, false]) {
      const store = createMemoryStore();
      if (!isNew) await line({ a: logs("first") }, { store }).invoke({ sessionId: "s" });
      const { gates, entered, run } = racing(store, { concurrency: "optimistic" });
      const [one, two] = [run(0), run(1)];
      await expect.poll(() => entered.length).toBe(2);
      gates[1]?.resolve();
      await two;
      gates[0]?.resolve();
      const error = await failure(one);
      expect(error).toMatchObject({
        code: "session_write_conflict",
        cause: { code: "session_write_conflict" },
      });
    }
  });

  it("a lease has them wait for each other, and not for ever", async () => {
    const store = createMemoryStore();
    const { gates, entered, run } = racing(store, { concurrency: "lease" });
    const [one, two] = [run(0), run(1)];
    gates[1]?.resolve();
    await expect.poll(() => entered).toEqual(["0"]);
    gates[0]?.resolve();
    await one;
    expect((await two).state.log).toEqual(["0", "1"]);
    const lease = await store.leases.acquire("session:s", { ttlMs: 60_000 });
    const impatient = line({ a: logs("a") }, { store, session: { concurrency: "lease", leaseWaitMs: 1 } });
    expect(await failure(impatient.invoke({ sessionId: "s" }))).toMatchObject({
      code: "session_write_conflict",
      cause: { code: "lease_taken" },
    });
    await lease.release();
    expect((await impatient.invoke({ sessionId: "s" })).outcome).toBe("completed");
  });

  it("a lease is renewed as long as the run takes, and a write without it is refused", async () => {
    const clock = createManualClock();
    const store = createMemoryStore({ clock });
    const gate = createDeferred<void>();
    const graph = line(
      { a: () => gate.promise },
      { store, clock, session: { concurrency: "lease", leaseTtlMs: 900, leaseWaitMs: 0 } },
    );
    const running = graph.invoke({ sessionId: "s" });
    for (let step = 0; step < 30; step++) {
      clock.advance(300);
      await nextTurn();
    }
    expect(await failure(graph.invoke({ sessionId: "s" }))).toMatchObject({ code: "session_write_conflict" });
    clock.advance(2000);
    const other = await store.leases.acquire("session:s", { ttlMs: 900 });
    gate.resolve();
    expect(await failure(running)).toMatchObject({
      code: "session_write_conflict",
      cause: { code: "lease_lost" },
    });
    await other.release();
    expect(await store.sessions.load("s")).toBeNull();
  });
});
