import { ok, deepStrictEqual as same } from "node:assert";
import type { Event, ItemOf } from "@harnesskit/protocol/threads";
import { systemClock } from "@harnesskit/wire";
import { searchThreads } from "../search-threads.ts";
import { threadServerLimits } from "../server-settings.ts";
import { changeStoredThread, forkStoredThread } from "../stored-threads.ts";
import type { ThreadStore } from "../thread-store.ts";
import { readAll, type StoreCases, sampleEvent, sampleEvents, sampleThread } from "./store-case.ts";

const clock = { ...systemClock, now: () => 5, elapsedMs: () => 0 };
const settings = { clock, limits: threadServerLimits.resolve({}) };

/** A message of the agent, completed. */
const sampleMessage = (threadId: string, seq: number, text: string): Event => {
  const ids = { threadId, turnId: "turn_1", itemId: `item_${seq}` };
  const item: ItemOf<"assistant_message"> = { ...ids, type: "assistant_message", data: { text } };
  return { seq, time: 1000 + seq, type: "item.completed", data: { ...ids, type: item.type, item } };
};

const sampleCreation = (threadId: string): Event => ({
  seq: 1,
  time: 1,
  type: "thread.created",
  data: { threadId, thread: sampleThread(threadId) },
});

const write = async (store: ThreadStore, threadId: string, events: readonly Event[]): Promise<void> => {
  await store.create(sampleThread(threadId));
  const lease = await store.lease(threadId);
  await store.append(threadId, events, { flush: true });
  await lease.release();
};

export const extensionCases: StoreCases = {
  async "events of some types are given without the others, and limit counts these"({ store }) {
    // What an event says can look like the type of another one.
    const decoy = sampleMessage("ses_1", 4, '"type":"thread.created"');
    const all = [
      sampleCreation("ses_1"),
      ...sampleEvents("ses_1", 2, 3),
      decoy,
      ...sampleEvents("ses_1", 5, 1500),
      sampleMessage("ses_1", 1501, "x"),
    ];
    await write(store, "ses_1", all);
    const types = ["item.completed"] as const;
    const found = all.filter(({ type }) => type === "item.completed");
    same(await readAll(store, "ses_1", { types }), found, "the events of one type");
    same(await readAll(store, "ses_1", { types, limit: 1 }), found.slice(0, 1), "the first of one type");
    same(await readAll(store, "ses_1", { types, afterSeq: 4 }), found.slice(1), "those behind a number");
    same(
      await readAll(store, "ses_1", { types: ["thread.created"] }),
      all.slice(0, 1),
      "those of another type",
    );
    same(await readAll(store, "ses_1", { types: ["turn.queued"] }), [], "those of a type that is not there");
    same(await readAll(store, "ses_1", { types: [] }), [], "those of no type");
    const checkpoints = all.filter(({ seq, type }) => type === "item.completed" || seq % 100 === 0);
    const options = { types, checkpointEvery: 100 };
    same(await readAll(store, "ses_1", options), checkpoints, "those of one type with checkpoints");
    const some = { ...options, limit: 3, afterSeq: 4 };
    same(await readAll(store, "ses_1", some), checkpoints.slice(1, 4), "limit counts the checkpoints");
    const close = { types: ["turn.queued"] as const, checkpointEvery: 1 };
    same(await readAll(store, "ses_1", close), all, "a checkpoint at each number");
  },
  async "a fork has the events of its source up to a number as its own, and the source is as it was"({
    store,
    reopen,
  }) {
    const all = [sampleCreation("ses_1"), ...sampleEvents("ses_1", 2, 1800, 900), sampleEvent("ses_1", 1801)];
    await write(store, "ses_1", all);
    const fork = await forkStoredThread(store, { threadId: "ses_1", seq: 1800 }, { clock });
    const { threadId } = fork;
    same(fork.forkedFrom, { threadId: "ses_1", seq: 1800 }, "what the fork says of its source");
    same(await readAll(store, "ses_1"), all, "the source after a fork");
    const later = await reopen();
    same(await later.get(threadId), fork, "the fork after a reopening");
    const events = await readAll(later, threadId);
    const copies = sampleEvents(threadId, 2, 1800, 900);
    same(events.slice(1, 1800), copies, "the copied events");
    same(events[0]?.type === "thread.created" && events[0].data.thread, fork, "how the fork begins");
    same(
      events.slice(1800).map(({ seq, type }) => [seq, type]),
      [[1801, "thread.forked"]],
      "how the copy ends",
    );
    await later.lease("ses_1");
    await later.delete("ses_1");
    same((await readAll(later, threadId)).length, 1801, "the events of a fork whose source was deleted");
  },
  async "a thread that is renamed and archived is found under its new title, and as an archived one"({
    store,
    reopen,
  }) {
    await write(store, "ses_1", [
      sampleCreation("ses_1"),
      sampleMessage("ses_1", 2, "Die ÜBUNG\n“macht” 100% a\\b_c"),
    ]);
    await write(store, "ses_2", [sampleCreation("ses_2"), sampleMessage("ses_2", 2, "nothing of that")]);
    await changeStoredThread(store, "ses_1", { title: "Meister" }, { clock });
    const changed = await changeStoredThread(store, "ses_1", { archived: true }, { clock });
    same(
      changed,
      { ...sampleThread("ses_1"), title: "Meister", time: { created: 1, updated: 1, archived: 5 } },
      "the change",
    );
    const later = await reopen();
    same(await later.get("ses_1"), changed, "the changed thread after a reopening");
    const find = async (query: string, archived?: "only") => {
      const { hits } = await searchThreads(later, { query, archived: archived || undefined }, settings);
      return hits.map(({ thread, seq }) => [thread.threadId, seq]);
    };
    same(await find("meister"), [], "a search that leaves out archived threads");
    same(await find("mEIster", "only"), [["ses_1", undefined]], "a search for a title");
    for (const query of ["übung macht", "100%", "a\\b_c", "“MACHT” die"])
      same(await find(query, "only"), [["ses_1", 2]], `a search for ${query}`);
    for (const query of ["übung nothing", "1.*0", "a_b", "a%c", "."])
      same(await find(query, "only"), [], `a search for ${query}`);
    same(await find("that NOTHING"), [["ses_2", 2]], "a search for a message");
    const types = (await readAll(later, "ses_1")).map(({ seq, type }) => [seq, type]).slice(2);
    same(
      types,
      [
        [3, "thread.updated"],
        [4, "thread.updated"],
      ],
      "the events of the changes",
    );
    ok((await later.list()).length === 2, "the list has another length");
  },
};
