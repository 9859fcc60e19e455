import { checkEqual, checkRejects, checkThat } from "@harnesskit/wire/testing";
import type { GraphStore } from "../stores/graph-store.ts";
import type { SessionFilter, StoredSession } from "../stores/session-store.ts";
import type { StoreCases, StoreContext } from "./graph-store-contract.ts";
import { firstWrite, nextWrite, sampleState } from "./store-samples.ts";

/** Throws `contract_broken` unless this is the state of a session. */
const demandState = async ({ sessions }: GraphStore, id: string, expected: unknown, what: string) =>
  checkEqual((await sessions.load(id))?.state, expected, what);

const load = async ({ store }: StoreContext, id: string): Promise<StoredSession> => {
  const record = await store.sessions.load(id);
  checkThat(record !== null, `${id} is stored and is not found`);
  return record;
};

/** What every store does with sessions. */
export const sessionCases: StoreCases = {
  async "a session that was never saved is null, and deleting it is nothing"({ store }) {
    checkEqual(await store.sessions.load("none"), null, "an unknown session");
    await store.sessions.delete("none");
    checkEqual(await store.sessions.list(), [], "the list of an empty store");
  },
  async "a session is given back as it was saved, by every store of the storage"(context) {
    const sample = {
      text: "é\u2028\u0000😀",
      number: -0.5,
      nothing: null,
      map: { a: [1, { b: true }] },
      list: [{ n: 1 }, "two"],
    };
    const { version } = await context.store.sessions.save(firstWrite("s 1/ü", sample));
    const other = await context.other();
    for (const store of [context.store, other]) {
      const record = await store.sessions.load("s 1/ü");
      checkEqual(record?.state, sample, "the state");
      checkEqual(record?.version, version, "the version");
      checkEqual(record?.schema_version, "1", "the schema version");
      checkEqual(record?.session_id, "s 1/ü", "the id");
      checkThat(record?.created_at === record?.updated_at, "a first write has two times");
    }
  },
  async "versions grow and are never given again, not even after a delete"({ store }) {
    const one = await store.sessions.save(firstWrite("a", { list: [1] }));
    const two = await store.sessions.save(firstWrite("b", { list: [1] }));
    await store.sessions.delete("a");
    const three = await store.sessions.save(firstWrite("a", { list: [1] }));
    checkThat(one.version < two.version && two.version < three.version, "versions do not grow");
  },
  async "what is new is added to what was stored, a hundred times"(context) {
    await context.store.sessions.save(firstWrite("s", { note: "n", list: [] }));
    for (let turn = 0; turn < 100; turn++) {
      await context.store.sessions.save(nextWrite(await load(context, "s"), [turn, { turn }]));
    }
    const expected = Array.from({ length: 100 }, (_, turn) => [turn, { turn }]).flat();
    await demandState(context.store, "s", { note: "n", list: expected }, "the state");
    await demandState(await context.other(), "s", { note: "n", list: expected }, "the state elsewhere");
  },
  async "a list is cut back to what stays, a field replaced, removed, and a name may change its kind"(
    context,
  ) {
    const { store } = context;
    await store.sessions.save(firstWrite("s", { list: [1, 2, 3], list2: ["x"], a: 1, b: 2 }));
    const base = await load(context, "s");
    const state = sampleState({ list: [1, 9], a: 7, listA: ["was b"] });
    await store.sessions.save({
      ...firstWrite("s", {}),
      state: { ...state, list2: "no list any more" },
      baseVersion: base.version,
      changes: {
        fields: { a: 7, list2: "no list any more" },
        lists: { list: { keep: 1, items: [9] }, listA: { keep: 0, items: ["was b"] } },
        removed: ["b"],
      },
    });
    const expected = { list: [1, 9], a: 7, listA: ["was b"], list2: "no list any more" };
    await demandState(context.store, "s", expected, "the state");
    await demandState(await context.other(), "s", expected, "the state elsewhere");
  },
  async "a write over another version than the stored one replaces everything by its state"(context) {
    const { store } = context;
    await store.sessions.save(firstWrite("s", { list: [1], old: true }));
    const base = await load(context, "s");
    await store.sessions.save(nextWrite(base, ["first"]));
    await store.sessions.save(nextWrite(base, ["second"]));
    await demandState(context.store, "s", { list: [1, "second"], old: true }, "the last write");
    await store.sessions.save(firstWrite("s", { list: ["new"] }));
    await demandState(context.store, "s", { list: ["new"] }, "a write over nothing that is known");
    await store.sessions.delete("s");
    await store.sessions.save(nextWrite(base, ["third"]));
    await demandState(context.store, "s", { list: [1, "third"], old: true }, "a write after a delete");
  },
  async "what was loaded does not change by later writes"(context) {
    await context.store.sessions.save(firstWrite("s", { note: "a", list: [1] }));
    const before = await load(context, "s");
    await context.store.sessions.save(nextWrite(before, [2]));
    checkEqual(before.state, { note: "a", list: [1] }, "what was loaded");
  },
  async "an expected version that is not the stored one is a conflict, and nothing is written"(context) {
    const { store } = context;
    const { version } = await store.sessions.save(firstWrite("s", { list: [1] }, { expectedVersion: null }));
    const base = await load(context, "s");
    await store.sessions.save(nextWrite(base, [2], { expectedVersion: version }));
    const late = store.sessions.save(nextWrite(base, [3], { expectedVersion: version }));
    await checkRejects(late, "session_write_conflict", "a late write");
    const again = store.sessions.save(firstWrite("s", { list: [] }, { expectedVersion: null }));
    await checkRejects(again, "session_write_conflict", "a first write of what exists");
    const gone = store.sessions.save(firstWrite("t", { list: [] }, { expectedVersion: version }));
    await checkRejects(gone, "session_write_conflict", "a write over what does not exist");
    await demandState(context.store, "s", { list: [1, 2] }, "the state");
    checkEqual(await store.sessions.load("t"), null, "the refused session");
  },
  async "of many writes that expect the same version, one is stored"(context) {
    await context.store.sessions.save(firstWrite("s", { list: [] }));
    const base = await load(context, "s");
    const other = await context.other();
    const writes = Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? context.store : other).sessions.save(
        nextWrite(base, [index], { expectedVersion: base.version }),
      ),
    );
    const outcomes = await Promise.allSettled(writes);
    const won = outcomes.flatMap(({ status }, index) => (status === "fulfilled" ? [index] : []));
    checkEqual(won.length, 1, "how many writes were stored");
    await demandState(context.store, "s", { list: won }, "the state");
  },
  async "sessions are listed without their state, the last written first, and filtered"({ store }) {
    await store.sessions.save(firstWrite("a", { list: [1] }));
    await store.sessions.save(firstWrite("b", { list: [1] }));
    await store.sessions.save(firstWrite("c", { list: [1] }));
    await store.sessions.save(firstWrite("a", { list: [2] }));
    const all = await store.sessions.list();
    const ids = async (filter?: SessionFilter) =>
      (await store.sessions.list(filter)).map((entry) => entry.session_id);
    const keys = ["created_at", "schema_version", "session_id", "updated_at", "version"];
    for (const entry of all) checkEqual(Object.keys(entry).sort(), keys, "what a summary has");
    checkEqual(await ids(), ["a", "c", "b"], "the order");
    checkEqual(await ids({ updatedBefore: "2000-01-01T00:00:00.000Z" }), [], "old sessions");
    checkEqual(await ids({ updatedBefore: "9999-01-01T00:00:00.000Z" }), ["a", "c", "b"], "all sessions");
    await store.sessions.delete("a");
    checkEqual(await ids(), ["c", "b"], "after a delete");
  },
};
