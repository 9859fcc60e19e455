import { checkEqual, checkThat } from "@harnesskit/wire/testing";
import type { StoreCases } from "./graph-store-contract.ts";
import { firstWrite, nextWrite } from "./store-samples.ts";

/** What every store remembers of the states of a session. */
export const historyCases: StoreCases = {
  async "a session that was never saved has no history"({ store }) {
    checkEqual(await store.sessions.history("none", 10), [], "the history of an unknown session");
  },
  async "the states of a session are given as they were saved, the last one first"(context) {
    const { sessions } = context.store;
    const versions = [(await sessions.save(firstWrite("s", { note: "a", list: [] }))).version];
    await sessions.save(firstWrite("other", { list: ["x"] }));
    for (let turn = 1; turn < 10; turn++) {
      const loaded = await sessions.load("s");
      checkThat(loaded !== null, "s is stored and is not found");
      const write = nextWrite(loaded, [turn, { turn }]);
      const { version } = await sessions.save({
        ...write,
        schemaVersion: `${turn}`,
        state: { ...write.state, note: `turn ${turn}` },
        changes: { ...write.changes, fields: { note: `turn ${turn}` } },
      });
      versions.unshift(version);
    }
    for (const store of [context.store, await context.other()]) {
      const history = await store.sessions.history("s", 100);
      checkEqual(
        history.map(({ version }) => version),
        versions,
        "the versions",
      );
      for (const [index, record] of history.entries()) {
        const turn = 9 - index;
        const list = Array.from({ length: turn }, (_, at) => [at + 1, { turn: at + 1 }]).flat();
        checkEqual(record.state, { note: turn === 0 ? "a" : `turn ${turn}`, list }, `state ${turn}`);
        checkEqual(record.schema_version, turn === 0 ? "1" : `${turn}`, "the schema version");
        checkEqual(record.session_id, "s", "the id");
        checkThat(record.updated_at >= record.created_at, "a state was saved before its session began");
      }
      checkEqual((await store.sessions.load("s"))?.state, history[0]?.state, "the first one");
      checkEqual((await store.sessions.history("s", 3)).length, 3, "how many are given");
    }
  },
  async "what is given of a history is right, also where lists were cut, replaced and removed"(context) {
    const { sessions } = context.store;
    const saved = new Map<number, unknown>();
    const save = async (write: Parameters<typeof sessions.save>[0]) => {
      saved.set((await sessions.save(write)).version, JSON.parse(JSON.stringify(write.state)));
      const loaded = await sessions.load("s");
      checkThat(loaded !== null, "s is stored and is not found");
      return loaded;
    };
    let loaded = await save(firstWrite("s", { list: [1, 2, 3], list2: ["x"], note: null }));
    loaded = await save(nextWrite(loaded, [4]));
    const cut = firstWrite("s", { list: [1, 9], list2: ["x"], note: null });
    const changes = { fields: {}, lists: { list: { keep: 1, items: [9] } }, removed: [] };
    loaded = await save({ ...cut, baseVersion: loaded.version, changes });
    loaded = await save(nextWrite(loaded, [10]));
    const { list2: _, ...rest } = loaded.state;
    const removal = { fields: {}, lists: {}, removed: ["list2"] };
    loaded = await save({ ...cut, state: rest, baseVersion: loaded.version, changes: removal });
    loaded = await save(firstWrite("s", { list: ["all", "new"] }));
    await save(nextWrite(loaded, ["more"]));
    for (const store of [context.store, await context.other()]) {
      const history = await store.sessions.history("s", 100);
      checkThat(history.length >= 2, "what was added to a list forgets the state before");
      for (const { version, state } of history) {
        checkEqual(state, saved.get(version), `the state of version ${version}`);
      }
    }
  },
  async "a session that was deleted has no history, also when it comes back"({ store: { sessions } }) {
    await sessions.save(firstWrite("s", { list: [1] }));
    await sessions.save(firstWrite("s", { list: [2] }));
    await sessions.delete("s");
    checkEqual(await sessions.history("s", 10), [], "the history after a delete");
    await sessions.save(firstWrite("s", { list: [3] }));
    checkEqual((await sessions.history("s", 10)).length, 1, "the history of what came back");
  },
};
