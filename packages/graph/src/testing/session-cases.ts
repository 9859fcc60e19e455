import { checkEqual, checkRejects, checkThat } from "@harnesskit/wire/testing";
import type { GraphStore } from "../stores/graph-store.ts";
import type { SessionFilter, SessionReceipt } from "../stores/session-store.ts";
import { firstWrite, loadSession, nextWrite, type StoreCases, sampleState, winner } from "./store-samples.ts";

/** Throws `contract_broken` unless this is the state of a session. */
const demandState = async ({ sessions }: GraphStore, id: string, expected: unknown, what: string) =>
  checkEqual((await sessions.load(id))?.state, expected, what);

/** What every store does with sessions. */
export const sessionCases: StoreCases = {
  async "a session is given back as it was saved, by every store of the storage"({ store, other }) {
    const id = "s 1/ü";
    checkEqual(await store.sessions.load(id), null, "an unknown session");
    const sample = {
      text: "é\u2028\u0000😀",
      number: -0.5,
      nothing: null,
      map: { a: [1, { b: true }] },
      list: [{ n: 1 }, "two"],
    };
    const { version } = await store.sessions.save(firstWrite(id, sample));
    for (const { sessions } of [store, await other()]) {
      const { created_at, updated_at, ...record } = (await sessions.load(id)) ?? {};
      checkEqual(record, { session_id: id, schema_version: "1", version, state: sample }, "the record");
      checkThat(created_at !== undefined && created_at === updated_at, "a first write has two times");
    }
  },
  async "versions grow and are never given again, not even after a delete"({ store: { sessions } }) {
    await sessions.delete("a");
    const one = await sessions.save(firstWrite("a", { list: [1] }));
    const two = await sessions.save(firstWrite("b", { list: [1] }));
    await sessions.delete("a");
    const three = await sessions.save(firstWrite("a", { list: [1] }));
    checkThat(one.version < two.version && two.version < three.version, "versions do not grow");
  },
  async "what is new is added to what was stored, a hundred times, and changes nothing that was loaded"({
    store,
    other,
  }) {
    await store.sessions.save(firstWrite("s", { note: "n", list: [] }));
    const before = await loadSession(store, "s");
    for (let turn = 0; turn < 100; turn++)
      await store.sessions.save(nextWrite(await loadSession(store, "s"), [turn, { turn }]));
    const list = Array.from({ length: 100 }, (_, turn) => [turn, { turn }]).flat();
    for (const each of [store, await other()]) await demandState(each, "s", { note: "n", list }, "the state");
    checkEqual(before.state, { note: "n", list: [] }, "what was loaded");
  },
  async "a list is cut back to what stays, a field replaced, removed, and a name may change its kind"({
    store,
    other,
  }) {
    await store.sessions.save(firstWrite("s", { list: [1, 2, 3], list2: ["x"], a: 1, b: 2 }));
    const { version } = await loadSession(store, "s");
    const state = sampleState({ list: [1, 9], a: 7, listA: ["was b"] });
    await store.sessions.save({
      ...firstWrite("s", {}),
      state: { ...state, list2: "no list any more" },
      baseVersion: version,
      changes: {
        fields: { a: 7, list2: "no list any more" },
        lists: { list: { keep: 1, items: [9] }, listA: { keep: 0, items: ["was b"] } },
        removed: ["b"],
      },
    });
    const expected = { list: [1, 9], a: 7, listA: ["was b"], list2: "no list any more" };
    for (const each of [store, await other()]) await demandState(each, "s", expected, "the state");
  },
  async "a write over another version than the stored one replaces everything by its state"({ store }) {
    const { sessions } = store;
    await sessions.save(firstWrite("s", { list: [1], old: true }));
    const base = await loadSession(store, "s");
    await sessions.save(nextWrite(base, ["first"]));
    await sessions.save(nextWrite(base, ["second"]));
    await demandState(store, "s", { list: [1, "second"], old: true }, "the last write");
    await sessions.save(firstWrite("s", { list: ["new"] }));
    await demandState(store, "s", { list: ["new"] }, "a write over nothing that is known");
    await sessions.delete("s");
    await sessions.save(nextWrite(base, ["third"]));
    await demandState(store, "s", { list: [1, "third"], old: true }, "a write after a delete");
  },
  async "an expected version that is not the stored one is a conflict, and nothing is written"({ store }) {
    const { version } = await store.sessions.save(firstWrite("s", { list: [1] }, { expectedVersion: null }));
    const base = await loadSession(store, "s");
    await store.sessions.save(nextWrite(base, [2], { expectedVersion: version }));
    const conflict = (write: Promise<SessionReceipt>, what: string) =>
      checkRejects(write, "session_write_conflict", what);
    const { sessions } = store;
    await conflict(sessions.save(nextWrite(base, [3], { expectedVersion: version })), "a late write");
    await conflict(
      sessions.save(firstWrite("s", {}, { expectedVersion: null })),
      "a first write of what exists",
    );
    await conflict(sessions.save(firstWrite("t", {}, { expectedVersion: version })), "a write over nothing");
    await demandState(store, "s", { list: [1, 2] }, "the state");
    checkEqual(await sessions.load("t"), null, "the refused session");
  },
  async "of many writes that expect the same version, one is stored"({ store, other }) {
    await store.sessions.save(firstWrite("s", { list: [] }));
    const base = await loadSession(store, "s");
    const stores = [store, await other()] as const;
    const writes = Array.from({ length: 20 }, (_, index) =>
      (stores[index % 2] as GraphStore).sessions.save(
        nextWrite(base, [index], { expectedVersion: base.version }),
      ),
    );
    await demandState(store, "s", { list: [await winner(writes)] }, "the state");
  },
  async "sessions are listed without their state, the last written first, and filtered"({
    store: { sessions },
  }) {
    checkEqual(await sessions.list(), [], "the list of an empty store");
    for (const id of ["a", "b", "c", "a"]) await sessions.save(firstWrite(id, { list: [1] }));
    const ids = async (filter?: SessionFilter) =>
      (await sessions.list(filter)).map((each) => each.session_id);
    const keys = ["created_at", "schema_version", "session_id", "updated_at", "version"];
    for (const entry of await sessions.list())
      checkEqual(Object.keys(entry).sort(), keys, "what a summary has");
    checkEqual(await ids(), ["a", "c", "b"], "the order");
    checkEqual(await ids({ updatedBefore: "2000-01-01T00:00:00.000Z" }), [], "old sessions");
    checkEqual(await ids({ updatedBefore: "9999-01-01T00:00:00.000Z" }), ["a", "c", "b"], "all sessions");
    await sessions.delete("a");
    checkEqual(await ids(), ["c", "b"], "after a delete");
  },
};
