import type { StoredSession } from "../stores/session-store.ts";
import { demand, demandRejection, demandSame } from "./contract-error.ts";
import type { StoreCase, StoreContext } from "./store-case.ts";
import { firstWrite, nextWrite, plain, stateOf } from "./store-samples.ts";

const load = async ({ store }: StoreContext, id: string): Promise<StoredSession> => {
  const record = await store.sessions.load(id);
  demand(record !== null, `${id} is stored and is not found`);
  return record;
};

/** What every store does with sessions. */
export const sessionCases: readonly StoreCase[] = [
  {
    name: "a session that was never saved is null, and deleting it is nothing",
    async run({ store }) {
      demandSame(await store.sessions.load("none"), null, "an unknown session");
      await store.sessions.delete("none");
      demandSame(await store.sessions.list(), [], "the list of an empty store");
    },
  },
  {
    name: "a session is given back as it was saved, by every store of the storage",
    async run(context) {
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
        demandSame(plain(record?.state), sample, "the state");
        demandSame(record?.version, version, "the version");
        demandSame(record?.schema_version, "1", "the schema version");
        demandSame(record?.session_id, "s 1/ü", "the id");
        demand(record?.created_at === record?.updated_at, "a first write has two times");
      }
    },
  },
  {
    name: "versions grow and are never given again, not even after a delete",
    async run({ store }) {
      const one = await store.sessions.save(firstWrite("a", { list: [1] }));
      const two = await store.sessions.save(firstWrite("b", { list: [1] }));
      await store.sessions.delete("a");
      const three = await store.sessions.save(firstWrite("a", { list: [1] }));
      demand(one.version < two.version && two.version < three.version, "versions do not grow");
    },
  },
  {
    name: "what is new is added to what was stored, a hundred times",
    async run(context) {
      await context.store.sessions.save(firstWrite("s", { note: "n", list: [] }));
      for (let turn = 0; turn < 100; turn++) {
        await context.store.sessions.save(nextWrite(await load(context, "s"), [turn, { turn }]));
      }
      const expected = Array.from({ length: 100 }, (_, turn) => [turn, { turn }]).flat();
      demandSame(plain((await load(context, "s")).state), { note: "n", list: expected }, "the state");
      const other = await (await context.other()).sessions.load("s");
      demandSame(plain(other?.state), { note: "n", list: expected }, "the state elsewhere");
    },
  },
  {
    name: "a list is cut back to what stays, a field replaced, removed, and a name may change its kind",
    async run(context) {
      const { store } = context;
      await store.sessions.save(firstWrite("s", { list: [1, 2, 3], list2: ["x"], a: 1, b: 2 }));
      const base = await load(context, "s");
      const state = stateOf({ list: [1, 9], a: 7, listA: ["was b"] });
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
      demandSame(plain((await load(context, "s")).state), expected, "the state");
      const other = await (await context.other()).sessions.load("s");
      demandSame(plain(other?.state), expected, "the state elsewhere");
    },
  },
  {
    name: "a write over another version than the stored one replaces everything by its state",
    async run(context) {
      const { store } = context;
      await store.sessions.save(firstWrite("s", { list: [1], old: true }));
      const base = await load(context, "s");
      await store.sessions.save(nextWrite(base, ["first"]));
      await store.sessions.save(nextWrite(base, ["second"]));
      demandSame(
        plain((await load(context, "s")).state),
        { list: [1, "second"], old: true },
        "the last write",
      );
      await store.sessions.save(firstWrite("s", { list: ["new"] }));
      demandSame(
        plain((await load(context, "s")).state),
        { list: ["new"] },
        "a write over nothing that is known",
      );
      await store.sessions.delete("s");
      await store.sessions.save(nextWrite(base, ["third"]));
      demandSame(
        plain((await load(context, "s")).state),
        { list: [1, "third"], old: true },
        "a write after a delete",
      );
    },
  },
  {
    name: "what was loaded does not change by later writes",
    async run(context) {
      await context.store.sessions.save(firstWrite("s", { note: "a", list: [1] }));
      const before = await load(context, "s");
      await context.store.sessions.save(nextWrite(before, [2]));
      demandSame(plain(before.state), { note: "a", list: [1] }, "what was loaded");
    },
  },
  {
    name: "an expected version that is not the stored one is a conflict, and nothing is written",
    async run(context) {
      const { store } = context;
      const { version } = await store.sessions.save(
        firstWrite("s", { list: [1] }, { expectedVersion: null }),
      );
      const base = await load(context, "s");
      await store.sessions.save(nextWrite(base, [2], { expectedVersion: version }));
      const late = store.sessions.save(nextWrite(base, [3], { expectedVersion: version }));
      await demandRejection(late, "session_write_conflict", "a late write");
      const again = store.sessions.save(firstWrite("s", { list: [] }, { expectedVersion: null }));
      await demandRejection(again, "session_write_conflict", "a first write of what exists");
      const gone = store.sessions.save(firstWrite("t", { list: [] }, { expectedVersion: version }));
      await demandRejection(gone, "session_write_conflict", "a write over what does not exist");
      demandSame(plain((await load(context, "s")).state), { list: [1, 2] }, "the state");
      demandSame(await store.sessions.load("t"), null, "the refused session");
    },
  },
  {
    name: "of many writes that expect the same version, one is stored",
    async run(context) {
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
      demandSame(won.length, 1, "how many writes were stored");
      demandSame(plain((await load(context, "s")).state), { list: won }, "the state");
    },
  },
  {
    name: "sessions are listed without their state, the last written first, and filtered",
    async run({ store }) {
      await store.sessions.save(firstWrite("a", { list: [1] }));
      await store.sessions.save(firstWrite("b", { list: [1] }, { schemaVersion: "2" }));
      await store.sessions.save(firstWrite("c", { list: [1] }));
      await store.sessions.save(firstWrite("a", { list: [2] }));
      const all = await store.sessions.list();
      demandSame(
        all.map((entry) => entry.session_id),
        ["a", "c", "b"],
        "the order",
      );
      demand(
        all.every((entry) => !("state" in entry)),
        "a summary has a state",
      );
      const keys = ["created_at", "schema_version", "session_id", "updated_at", "version"];
      demandSame(Object.keys(all[0] ?? {}).sort(), keys, "what a summary has");
      const second = await store.sessions.list({ schemaVersion: "2" });
      demandSame(
        second.map((entry) => entry.session_id),
        ["b"],
        "those of a schema version",
      );
      demandSame(
        await store.sessions.list({ updatedBefore: "2000-01-01T00:00:00.000Z" }),
        [],
        "old sessions",
      );
      const later = await store.sessions.list({ updatedBefore: "9999-01-01T00:00:00.000Z" });
      demandSame(later.length, 3, "sessions before the end of time");
      await store.sessions.delete("a");
      demandSame(
        (await store.sessions.list()).map((entry) => entry.session_id),
        ["c", "b"],
        "after a delete",
      );
    },
  },
];
