import { ok } from "node:assert";
import type { Event, ItemOf } from "@harnesskit/protocol/threads";
import { checkEqual as same } from "@harnesskit/wire/testing";
import type { ThreadStore } from "../thread-store.ts";
import { readAll, type StoreCases, sampleEvent, sampleEvents, sampleThread } from "./store-case.ts";

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

const held = async (store: ThreadStore, threadId: string, events: readonly Event[]) => {
  await store.create(sampleThread(threadId));
  const lease = await store.lease(threadId);
  if (events.length > 0) await store.append(threadId, events, { flush: false });
  return lease;
};

export const eventCases: StoreCases = {
  async "events are given in the order in which they were appended, to the thread they were appended to"({
    store,
  }) {
    const leases = [await held(store, "ses_1", []), await held(store, "ses_2", [])];
    await store.append("ses_1", sampleEvents("ses_1", 1, 3), { flush: false });
    await store.append("ses_2", sampleEvents("ses_2", 1, 1), { flush: true });
    await store.append("ses_1", sampleEvents("ses_1", 4, 4), { flush: true });
    await store.append("ses_1", [], { flush: true });
    same(await readAll(store, "ses_1"), sampleEvents("ses_1", 1, 4), "the events of the first thread");
    same(await readAll(store, "ses_2"), sampleEvents("ses_2", 1, 1), "the events of the second thread");
    for (const lease of leases) await lease.release();
    same(
      await readAll(store, "ses_1"),
      sampleEvents("ses_1", 1, 4),
      "the events of a thread without a writer",
    );
  },
  async "afterSeq and limit give exactly the part that was asked for"({ store }) {
    const all = sampleEvents("ses_1", 1, 2000, 100);
    const lease = await held(store, "ses_1", all);
    for (const afterSeq of [0, 1, 2, 999, 1000, 1998, 1999, 2000, 2001, 1e9]) {
      for (const limit of [0, 1, 7, 2000, undefined]) {
        const options = limit === undefined ? { afterSeq } : { afterSeq, limit };
        const expected = all.slice(afterSeq, limit === undefined ? undefined : afterSeq + limit);
        same(await readAll(store, "ses_1", options), expected, `the events of ${JSON.stringify(options)}`);
      }
    }
    same(await readAll(store, "ses_1", { limit: 3 }), all.slice(0, 3), "the first events");
    for await (const event of store.events("ses_1")) if (event.seq === 5) break;
    same(
      await readAll(store, "ses_1", { afterSeq: 1999 }),
      all.slice(1999),
      "a read after one that was left",
    );
    await lease.release();
  },
  async "the last events end with the last one, have no gap, and are about as many as were asked for"({
    store,
  }) {
    const all = sampleEvents("ses_1", 1, 300, 1000);
    const lease = await held(store, "ses_1", all);
    for (const maxBytes of [1, 100, 5000, 100_000, 10_000_000]) {
      const events = await store.lastEvents("ses_1", maxBytes);
      ok(events.length > 0, `no last event came of ${maxBytes} bytes`);
      same(events, all.slice(-events.length), `the last events of ${maxBytes} bytes`);
      const bytes = events.length * 1000;
      ok(maxBytes > 1000 || events.length <= 3, `${events.length} events came of ${maxBytes} bytes`);
      ok(bytes <= 4 * maxBytes + 3000, `${bytes} bytes came of ${maxBytes}`);
      ok(events.length === 300 || bytes * 4 >= maxBytes, `only ${bytes} bytes came of ${maxBytes}`);
    }
    await lease.release();
  },
  async "a large event and many small ones come back whole"({ store, reopen }) {
    const events = [
      sampleEvent("ses_1", 1, 2_000_000),
      ...sampleEvents("ses_1", 2, 3000),
      sampleEvent("ses_1", 3001, 500_000),
    ];
    const lease = await held(store, "ses_1", events);
    same(await readAll(store, "ses_1"), events, "the events");
    const end = await store.lastEvents("ses_1", 10);
    same(end, events.slice(-end.length || events.length), "the last events");
    same(await readAll(store, "ses_1", { afterSeq: 1, limit: 1 }), events.slice(1, 2), "the second event");
    await lease.release();
    same(await readAll(await reopen(), "ses_1"), events, "the events after a reopening");
  },
  async "what was stored is there after a reopening, and goes on from there"({ store, reopen }) {
    const lease = await held(store, "ses_1", sampleEvents("ses_1", 1, 5));
    await store.append("ses_1", sampleEvents("ses_1", 6, 6), { flush: true });
    await store.update(sampleThread("ses_1", 7));
    await lease.release();
    const later = await reopen();
    same(await later.get("ses_1"), sampleThread("ses_1", 7), "the thread after a reopening");
    same(await later.list(), [sampleThread("ses_1", 7)], "the list after a reopening");
    const again = await later.lease("ses_1");
    await later.append("ses_1", sampleEvents("ses_1", 7, 8), { flush: false });
    same(await readAll(later, "ses_1"), sampleEvents("ses_1", 1, 8), "the events after a reopening");
    await again.release();
  },
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
    await (await held(store, "ses_1", all)).release();
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
};
