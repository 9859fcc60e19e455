import { checkEqual, checkThat } from "@harnesskit/wire/testing";
import type { SessionWrite } from "../stores/session-store.ts";
import { firstWrite, loadSession, nextWrite, type StoreCases } from "./store-samples.ts";

/** What every store remembers of the states of a session. */
export const historyCases: StoreCases = {
  async "the states of a session are given as they were saved, the last one first"({ store, other }) {
    const { sessions } = store;
    checkEqual(await sessions.history("s", 10), [], "the history of an unknown session");
    const { version: first } = await sessions.save(firstWrite("s", { note: "a", list: [] }));
    const expected = [{ version: first, schema_version: "1", state: { note: "a", list: [] as unknown[] } }];
    await sessions.save(firstWrite("other", { list: ["x"] }));
    for (let turn = 1; turn < 10; turn++) {
      const write = nextWrite(await loadSession(store, "s"), [turn, { turn }]);
      const note = `turn ${turn}`;
      const state = { ...write.state, note };
      const changes = { ...write.changes, fields: { note } };
      const schema_version = `${turn}`;
      const { version } = await sessions.save({ ...write, schemaVersion: schema_version, state, changes });
      expected.unshift({
        version,
        schema_version,
        state: { note, list: [...(write.state.list as unknown[])] },
      });
    }
    for (const each of [store, await other()]) {
      const history = await each.sessions.history("s", 100);
      const found = history.map(({ version, schema_version, state }) => ({ version, schema_version, state }));
      checkEqual(found, expected, "the history");
      for (const { session_id, created_at, updated_at } of history)
        checkThat(session_id === "s" && updated_at >= created_at, "a state is of no moment of its session");
      checkEqual((await each.sessions.history("s", 3)).length, 3, "how many are given");
    }
  },
  async "what is given of a history is right, also where lists were cut, replaced and removed"({
    store,
    other,
  }) {
    const saved = new Map<number, unknown>();
    const save = async (write: SessionWrite) => {
      saved.set((await store.sessions.save(write)).version, JSON.parse(JSON.stringify(write.state)));
      return loadSession(store, "s");
    };
    let loaded = await save(firstWrite("s", { list: [1, 2, 3], list2: ["x"], note: null }));
    loaded = await save(nextWrite(loaded, [4]));
    const cut = firstWrite("s", { list: [1, 9], list2: ["x"], note: null });
    const changes = { fields: {}, lists: { list: { keep: 1, items: [9] } }, removed: [] };
    loaded = await save({ ...cut, baseVersion: loaded.version, changes });
    loaded = await save(nextWrite(loaded, [10]));
    const { list2: _, ...state } = loaded.state;
    const removal = { fields: {}, lists: {}, removed: ["list2"] };
    await save({ ...cut, state, baseVersion: loaded.version, changes: removal });
    loaded = await save(firstWrite("s", { list: ["all", "new"] }));
    await save(nextWrite(loaded, ["more"]));
    for (const { sessions } of [store, await other()]) {
      const history = await sessions.history("s", 100);
      checkThat(history.length >= 2, "what was added to a list forgets the state before");
      for (const { version, state } of history)
        checkEqual(state, saved.get(version), `the state of version ${version}`);
    }
  },
  async "a session that was deleted has no history, also when it comes back"({ store: { sessions } }) {
    for (const item of [1, 2]) await sessions.save(firstWrite("s", { list: [item] }));
    await sessions.delete("s");
    checkEqual(await sessions.history("s", 10), [], "the history after a delete");
    await sessions.save(firstWrite("s", { list: [3] }));
    checkEqual((await sessions.history("s", 10)).length, 1, "the history of what came back");
  },
};
