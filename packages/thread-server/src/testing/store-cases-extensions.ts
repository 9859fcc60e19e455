import type { Event, ItemOf } from "@harnesskit/protocol/threads";
import { checkEqual as same } from "@harnesskit/wire/testing";
import type { ThreadStore } from "../thread-store.ts";
import { readAll, type StoreCases, sampleEvents, sampleThread } from "./store-case.ts";

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
  },
  async "what organises a thread is kept, also after a reopening"({ store, reopen }) {
    const organised = {
      ...sampleThread("ses_2"),
      title: "Another",
      time: { created: 1, updated: 7, archived: 5 },
      forkedFrom: { threadId: "ses_1", seq: 3 },
    };
    await write(store, "ses_2", [sampleCreation("ses_2")]);
    await store.update(organised);
    same(await store.get("ses_2"), organised, "a thread that was changed");
    const later = await reopen();
    same(await later.get("ses_2"), organised, "a thread that was changed, after a reopening");
    same(await later.list(), [organised], "the list after a reopening");
  },
};
