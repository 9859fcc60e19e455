import { checkRejects, checkEqual as same } from "@harnesskit/wire/testing";
import {
  hostileIds,
  readAll,
  type StoreCases,
  sampleEvent,
  sampleEvents,
  sampleGrant,
  sampleThread,
} from "./store-case.ts";

export const threadCases: StoreCases = {
  async "a thread that was created is given as it is, and no other"({ store }) {
    same(await store.list(), [], "the threads of a new store");
    same(await store.get("ses_1"), undefined, "a thread that was not created");
    await store.create(sampleThread("ses_1"));
    await store.create(sampleThread("ses_2"));
    same(await store.get("ses_1"), sampleThread("ses_1"), "the first thread");
    same(await store.get("ses_2"), sampleThread("ses_2"), "the second thread");
    same(await store.get("ses_3"), undefined, "a thread that was not created");
    same(await readAll(store, "ses_1"), [], "the events of a new thread");
    same(await store.lastEvents("ses_1", 1000), [], "the last events of a new thread");
  },
  async "the list has the thread first that was updated last"({ store }) {
    for (const [threadId, updated] of [
      ["ses_1", 30],
      ["ses_2", 10],
      ["ses_3", 20],
    ] as const) {
      await store.create(sampleThread(threadId, updated));
    }
    const ids = async () => (await store.list()).map(({ threadId }) => threadId);
    same(await ids(), ["ses_1", "ses_3", "ses_2"], "the order of the list");
    await store.update(sampleThread("ses_2", 40));
    same(await ids(), ["ses_2", "ses_1", "ses_3"], "the order of the list after an update");
    same((await store.list())[0], sampleThread("ses_2", 40), "an entry of the list");
    for (const threadId of ["ses_b", "ses_Z", "ses_a"]) await store.create(sampleThread(threadId, 40));
    same((await ids()).slice(0, 4), ["ses_2", "ses_Z", "ses_a", "ses_b"], "threads of one moment");
  },
  async "an update replaces the thread and leaves its events"({ store }) {
    await store.create(sampleThread("ses_1"));
    const lease = await store.lease("ses_1");
    await store.append("ses_1", [sampleEvent("ses_1", 1)], { flush: true });
    const renamed = { ...sampleThread("ses_1", 9), title: "another" };
    await store.update(renamed);
    same(await store.get("ses_1"), renamed, "the thread after an update");
    same(await readAll(store, "ses_1"), [sampleEvent("ses_1", 1)], "its events after an update");
    await store.create(renamed);
    same(await readAll(store, "ses_1"), [sampleEvent("ses_1", 1)], "its events after a second creation");
    await lease.release();
  },
  async "an id that the store does not know is no thread, and nothing is written under it"({ store }) {
    await store.create(sampleThread("ses_1"));
    for (const id of ["ses_2", ...hostileIds]) {
      const what = `the id ${JSON.stringify(id.slice(0, 40))}`;
      same(await store.get(id), undefined, what);
      await checkRejects(store.lease(id), "store_failed", `a lease of ${what}`);
      await checkRejects(store.update(sampleThread(id)), "store_failed", `an update of ${what}`);
      await checkRejects(store.delete(id), "store_failed", `a deletion of ${what}`);
      const append = store.append(id, [sampleEvent(id, 1)], { flush: true });
      await checkRejects(append, "store_failed", `an append to ${what}`);
      const read = await readAll(store, id).catch(() => []);
      same(read, [], `the events of ${what}`);
      same(await store.lastEvents(id, 10).catch(() => []), [], `the last events of ${what}`);
    }
    same(await store.list(), [sampleThread("ses_1")], "the list afterwards");
  },
  async "a thread that was deleted is gone with its events, artifacts and grants, also after a reopening"({
    store,
    reopen,
  }) {
    for (const id of ["ses_1", "ses_2"]) await store.create(sampleThread(id));
    const lease = await store.lease("ses_1");
    await store.append("ses_1", sampleEvents("ses_1", 1, 3), { flush: true });
    const artifact = await store.openArtifact("ses_1", "output.txt");
    await artifact.write("kept");
    await artifact.close();
    await store.addGrant(sampleGrant("grant_1", "ses_1", "thread"));
    await store.addGrant(sampleGrant("grant_2", "ses_2", "thread"));
    await store.addGrant(sampleGrant("grant_3", "ses_1", "directory"));
    await store.delete("ses_1");
    await lease.release();
    const look = async (at: typeof store) => {
      same(await at.get("ses_1"), undefined, "a deleted thread");
      same(await at.list(), [sampleThread("ses_2")], "the list after a deletion");
      const left = (await at.grants()).map(({ grantId }) => grantId).sort();
      same(left, ["grant_2", "grant_3"], "the grants after a deletion");
      await checkRejects(at.lease("ses_1"), "store_failed", "a lease of a deleted thread");
    };
    await look(store);
    const later = await reopen();
    await look(later);
    await later.create(sampleThread("ses_1"));
    same(await readAll(later, "ses_1"), [], "the events of a thread that was created again");
    const again = await later.lease("ses_1");
    await later.append("ses_1", [sampleEvent("ses_1", 1)], { flush: true });
    await again.release();
  },
  async "what organises a thread is kept, also after a reopening"({ store, reopen }) {
    const organised = {
      ...sampleThread("ses_2"),
      title: "Another",
      time: { created: 1, updated: 7, archived: 5 },
      forkedFrom: { threadId: "ses_1", seq: 3 },
    };
    await store.create(sampleThread("ses_2"));
    await store.update(organised);
    same(await store.get("ses_2"), organised, "a thread that was changed");
    const later = await reopen();
    same(await later.get("ses_2"), organised, "a thread that was changed, after a reopening");
    same(await later.list(), [organised], "the list after a reopening");
  },
};
