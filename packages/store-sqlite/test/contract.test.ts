import { join } from "node:path";
import {
  createMemoryStore,
  type GraphStore,
  isList,
  type Lease,
  type SessionWrite,
  type StoredSession,
  type StoredState,
  toList,
} from "@harnesskit/graph";
import { graphStoreContract } from "@harnesskit/graph/testing";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { createManualClock } from "@harnesskit/wire/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { openSqliteStore } from "../src/index.ts";
import { openParts } from "./support/open-parts.ts";
import { outcomeOf } from "./support/outcome.ts";
import { pause, plain, whole } from "./support/samples.ts";

const contract = (name: string, limits: { readonly maxCachedLength?: number }) =>
  graphStoreContract({
    name,
    async open() {
      const directory = await temporaryDirectory();
      const open = () => openSqliteStore({ file: join(directory.path, "store.db"), limits });
      return { store: await open(), reopen: open, dispose: async () => directory[Symbol.asyncDispose]() };
    },
  });

describe("the contract of stores", () => {
  const cases = [...contract("SQLite", {}), ...contract("SQLite without a cache", { maxCachedLength: 0 })];
  it.each(cases.map(({ name, run }) => [name, run] as const))("%s", async (_, run) => {
    await expect(run()).resolves.toBeUndefined();
  });
});

/** What one store has given so far, by the names that the commands use. */
interface World {
  readonly store: GraphStore;
  readonly loaded: Map<string, StoredSession>;
  readonly leases: Map<string, Lease>;
  readonly revisions: Map<string, number>;
}

type Command = (world: World) => Promise<unknown>;
type Edit = {
  readonly append: JsonValue[];
  readonly keep: number;
  readonly field: JsonValue;
  readonly drop: boolean;
};

/** A write over what the world has loaded last, however old that is. */
const edited = (world: World, id: string, edit: Edit, expects: boolean): SessionWrite => {
  const base = world.loaded.get(id);
  if (base === undefined) return whole(id, { list: edit.append, field: edit.field });
  const before = isList(base.state.list) ? (base.state.list as readonly JsonValue[]) : toList<JsonValue>([]);
  const isStored = isList(base.state.list);
  const keep = Math.min(edit.keep, before.length);
  const { other: _, ...rest } = base.state;
  const list = toList(before.slice(0, keep), edit.append);
  const state: StoredState = { ...rest, list, field: edit.field, ...(edit.drop ? {} : { other: "kept" }) };
  const hasOther = Object.hasOwn(base.state, "other");
  return {
    sessionId: id,
    schemaVersion: base.schema_version,
    state,
    baseVersion: base.version,
    changes: {
      fields: { field: edit.field, ...(edit.drop ? {} : { other: "kept" }) },
      lists: { list: { keep: isStored ? keep : 0, items: edit.append } },
      removed: edit.drop && hasOther ? ["other"] : [],
    },
    ...(expects ? { expectedVersion: base.version } : {}),
  };
};

const ids = ["a", "b\0", "__proto__"];
const id = fc.constantFrom(...ids);
const value = fc.jsonValue({ maxDepth: 2 }).map((json) => JSON.parse(JSON.stringify(json)) as JsonValue);
const edit = fc.record({
  append: fc.array(value, { maxLength: 3 }),
  keep: fc.nat(6),
  field: value,
  drop: fc.boolean(),
});

const load = id.map(
  (session): Command =>
    async ({ store, loaded }) => {
      const record = await store.sessions.load(session);
      if (record !== null) loaded.set(session, record);
      return record;
    },
);
const turn = fc.tuple(id, edit).map(
  ([session, change]): Command =>
    async (world) => {
      const record = await world.store.sessions.load(session);
      if (record !== null) world.loaded.set(session, record);
      return world.store.sessions.save(edited(world, session, change, false));
    },
);
const save = fc.tuple(id, edit, fc.boolean()).map(
  ([session, change, expects]): Command =>
    async (world) =>
      world.store.sessions.save(edited(world, session, change, expects)),
);
const overwrite = fc.tuple(id, fc.dictionary(id, value, { maxKeys: 3 })).map(
  ([session, state]): Command =>
    async ({ store }) =>
      store.sessions.save(whole(session, state)),
);
const remove = id.map(
  (name): Command =>
    async ({ store }) => {
      await store.sessions.delete(name);
      await store.suspensions.delete(name);
    },
);
const put = fc
  .record({ invocation: id, signal: id, session: fc.option(id), unique: fc.boolean(), stale: fc.boolean() })
  .map(
    ({ invocation, signal, session, unique, stale }): Command =>
      async ({ store, revisions }) => {
        const known = revisions.get(invocation) ?? null;
        const options = { isSignalUnique: unique, ...(stale ? { expectedRevision: known } : {}) };
        const record = { descriptor: { signal_id: signal }, session_id: session };
        const receipt = await store.suspensions.save(pause(invocation, record, options));
        revisions.set(invocation, receipt.revision);
        return receipt;
      },
  );
const patch = fc
  .record({
    invocationId: id,
    status: fc.option(fc.constantFrom("completed", "errored" as const), { nil: undefined }),
    result: fc.option(value, { nil: undefined }),
    isDelivered: fc.option(fc.boolean(), { nil: undefined }),
  })
  .map(
    (given): Command =>
      async ({ store }) => {
        const named = Object.entries(given).filter(([, part]) => part !== undefined);
        const rest = Object.fromEntries(named) as { invocationId: string };
        return store.suspensions.save({ kind: "patch", ...rest });
      },
  );
const both = fc.tuple(id, edit, id).map(
  ([session, change, invocation]): Command =>
    async (world) =>
      world.store.commit({
        session: edited(world, session, change, true),
        suspension: pause(invocation, {}, { expectedRevision: world.revisions.get(invocation) ?? null }),
        leases: [...world.leases.values()].slice(0, 1),
      }),
);
const look = fc.tuple(id, fc.nat(5)).map(
  ([name, which]): Command =>
    async ({ store }) => {
      const filters = [
        {},
        { status: "suspended" },
        { isDelivered: false },
        { signalId: name },
        { sessionId: name },
      ] as const;
      return which === 5
        ? [await store.sessions.list(), await store.suspensions.load(name)]
        : store.suspensions.list(filters[which]);
    },
);
const lease = fc.tuple(id, fc.boolean()).map(
  ([name, release]): Command =>
    async ({ store, leases }) => {
      const held = leases.get(name);
      if (!release || held === undefined) {
        const taken = await store.leases.acquire(name, { ttlMs: 1000 });
        leases.set(name, taken);
        return taken.fence;
      }
      return held.release();
    },
);

const commands = fc.array(
  fc.record({
    run: fc.oneof(load, save, save, turn, turn, turn, overwrite, remove, put, put, patch, both, look, lease),
    atOther: fc.boolean(),
    afterMs: fc.constantFrom(0, 0, 0, 5, 600),
  }),
  { minLength: 5, maxLength: 40 },
);

const settled = async (command: Command, world: World) =>
  JSON.parse(JSON.stringify(await outcomeOf(command(world))));

it("the store in a file, by two connections, answers as the one in memory does", async () => {
  await using directory = await temporaryDirectory();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(commands, async (steps) => {
      const clock = createManualClock();
      const file = join(directory.path, `${run++}.db`);
      const open = () => openSqliteStore({ file, clock, sync: "none" });
      const stores = [await open(), await open()];
      const shared = { loaded: new Map(), leases: new Map(), revisions: new Map() };
      const memory: World = {
        store: createMemoryStore({ clock }),
        loaded: new Map(),
        leases: new Map(),
        revisions: new Map(),
      };
      try {
        for (const { run: command, atOther, afterMs } of steps) {
          clock.advance(afterMs);
          const expected = await settled(command, memory);
          const actual = await settled(command, { store: stores[atOther ? 1 : 0] as GraphStore, ...shared });
          expect(actual).toEqual(expected);
        }
        // What is in the file, not what the stores remember.
        const fresh = await open();
        stores.push(fresh);
        for (const name of ids) {
          const everything: Command = async ({ store }) => [
            await store.sessions.load(name),
            await store.suspensions.load(name),
          ];
          const actual = await settled(everything, { store: fresh, ...shared });
          expect(actual).toEqual(await settled(everything, memory));
        }
      } finally {
        for (const store of stores) await store.close();
      }
    }),
    { seed: 20_261_122, numRuns: runs(40) },
  );
});

it("keeps as many states of a session as it may, and forgets those that it cannot give back", async () => {
  await using directory = await temporaryDirectory();
  const { store, file } = await openParts({
    file: join(directory.path, "store.db"),
    limits: { maxHistory: 3 },
  });
  const counts = async () =>
    (await store.sessions.history("s", 100)).map(({ state }) => plain({ state } as never));
  let loaded = (await store.sessions.save(whole("s", { list: [0], n: 0 }))) as { version: number };
  const save = async (keep: number, items: JsonValue[], n: number) => {
    const before = (await store.sessions.load("s")) as StoredSession;
    const list = toList((before.state.list as readonly JsonValue[]).slice(0, keep), items);
    const changes = { fields: { n }, lists: { list: { keep, items } }, removed: [] };
    const state = { list, n };
    loaded = await store.sessions.save({
      sessionId: "s",
      schemaVersion: "1",
      state,
      baseVersion: loaded.version,
      changes,
    });
  };
  for (const n of [1, 2, 3]) await save(n, [n], n);
  expect(await counts()).toEqual([
    { list: [0, 1, 2, 3], n: 3 },
    { list: [0, 1, 2], n: 2 },
    { list: [0, 1], n: 1 },
  ]);
  expect(file.get("SELECT count(*) FROM session_versions")).toEqual([3]);
  await save(1, ["cut"], 4);
  expect(await counts()).toEqual([{ list: [0, "cut"], n: 4 }]);
  await save(2, ["more"], 5);
  expect(await counts()).toEqual([
    { list: [0, "cut", "more"], n: 5 },
    { list: [0, "cut"], n: 4 },
  ]);
  await store.sessions.delete("s");
  expect(file.get("SELECT count(*) FROM session_versions")).toEqual([0]);
  await store.close();
});

it("a list that was removed, or became a value, leaves nothing behind when it is a list again", async () => {
  await using directory = await temporaryDirectory();
  const { store, file } = await openParts({ file: join(directory.path, "store.db") });
  let { version } = await store.sessions.save(whole("s", { one: [1, 2], two: [3, 4] }));
  const change = async (sample: Record<string, JsonValue>, removed: readonly string[]) => {
    const { state, changes } = whole("s", sample);
    const write = whole("s", {}, { state, changes: { ...changes, removed }, baseVersion: version });
    ({ version } = await store.sessions.save(write));
  };
  await change({ one: "a value" }, ["two"]);
  expect(file.get("SELECT count(*) FROM session_items")).toEqual([0]);
  await change({ one: [5], two: [6] }, []);
  const fresh = await openSqliteStore({ file: join(directory.path, "store.db") });
  expect(plain(await fresh.sessions.load("s"))).toEqual({ one: [5], two: [6] });
  await fresh.sessions.delete("s");
  for (const table of ["sessions", "session_fields", "session_items", "session_versions"]) {
    expect(file.get(`SELECT count(*) FROM ${table}`)).toEqual([0]);
  }
  await fresh.close();
  await store.close();
});
