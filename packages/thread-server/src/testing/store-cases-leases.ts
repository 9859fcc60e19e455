import { ok } from "node:assert";
import { checkRejects, checkEqual as same } from "@harnesskit/wire/testing";
import { readAll, type StoreCases, sampleEvent, sampleThread } from "./store-case.ts";

/** How many ask at once where only one may win. */
const contenders = 50;

const claimOf = (threadId: string) => ({ threadId, requestDigest: `digest of ${threadId}` });

const otherKeys = ["", "../x", "one key ", "ONE KEY", "__proto__", "\0", "k".repeat(10_000)];

export const leaseCases: StoreCases = {
  async "one lease of a thread is held at a time, and does not keep others from reading or from other threads"({
    store,
  }) {
    await store.create(sampleThread("ses_1"));
    await store.create(sampleThread("ses_2"));
    const lease = await store.lease("ses_1");
    await checkRejects(store.lease("ses_1"), "thread_locked", "a second lease");
    const other = await store.lease("ses_2");
    await store.append("ses_1", [sampleEvent("ses_1", 1)], { flush: false });
    same(await readAll(store, "ses_1"), [sampleEvent("ses_1", 1)], "the events of a thread that is held");
    same(await store.get("ses_1"), sampleThread("ses_1"), "a thread that is held");
    await lease.release();
    await other.release();
    await (await store.lease("ses_1")).release();
  },
  async "releasing twice is releasing once, and never releases the next lease"({ store }) {
    await store.create(sampleThread("ses_1"));
    const first = await store.lease("ses_1");
    await Promise.all([first.release(), first.release()]);
    const second = await store.lease("ses_1");
    await first.release();
    await checkRejects(store.lease("ses_1"), "thread_locked", "a lease while the second one is held");
    await store.append("ses_1", [sampleEvent("ses_1", 1)], { flush: false });
    await second.release();
    await second.release();
  },
  async "of many that ask for a lease at once one gets it"({ store }) {
    await store.create(sampleThread("ses_1"));
    const asked = await Promise.allSettled(Array.from({ length: contenders }, () => store.lease("ses_1")));
    const won = asked.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    same(won.length, 1, `leases that ${contenders} got`);
    for (const outcome of asked) {
      if (outcome.status === "rejected")
        await checkRejects(Promise.reject(outcome.reason), "thread_locked", "a lease that was not got");
    }
    await store.append("ses_1", [sampleEvent("ses_1", 1)], { flush: false });
    await won[0]?.release();
    await (await store.lease("ses_1")).release();
  },
  async "closing releases what is held"({ store, reopen }) {
    for (const id of ["ses_1", "ses_2"]) {
      await store.create(sampleThread(id));
      await store.lease(id);
      await store.append(id, [sampleEvent(id, 1)], { flush: false });
    }
    const later = await reopen();
    for (const id of ["ses_1", "ses_2"]) {
      const lease = await later.lease(id);
      same(await readAll(later, id), [sampleEvent(id, 1)], "the events after a closing");
      await lease.release();
    }
    await later.close();
    await later.close();
  },
  async "a key is claimed once, however many claim it, also after a reopening"({ store, reopen }) {
    const claims = Array.from({ length: contenders }, (_, index) => claimOf(`ses_${index}`));
    const kept = await Promise.all(claims.map((claim) => store.claim("one key", claim)));
    same(new Set(kept.map(({ threadId }) => threadId)).size, 1, "threads that claims of one key got");
    const [winner] = kept;
    ok(
      claims.some(({ threadId }) => threadId === winner?.threadId),
      "the stored claim has no owner",
    );
    same(winner, { ...claimOf(winner?.threadId ?? ""), isDeleted: false }, "the claim that was kept");
    for (const [index, key] of otherKeys.entries()) {
      const claim = claimOf(`ses_${1000 + index}`);
      same(await store.claim(key, claim), { ...claim, isDeleted: false }, "the claim of another key");
    }
    const late = claimOf("ses_2000");
    same(await store.claim("one key", late), winner, "the claim that was kept");
    const later = await reopen();
    for (const key of ["one key", ...otherKeys]) {
      const { threadId } = await later.claim(key, late);
      const expected: string | undefined =
        key === "one key" ? winner?.threadId : `ses_${1000 + otherKeys.indexOf(key)}`;
      same(threadId, expected, "the claim that was kept after a reopening");
    }
  },
  async "a claim says that its thread was deleted, and of one that was never made it does not"({
    store,
    reopen,
  }) {
    for (const id of ["ses_1", "ses_2", "ses_3"]) {
      await store.claim(`key of ${id}`, claimOf(id));
      await store.create(sampleThread(id));
      const lease = await store.lease(id);
      if (id !== "ses_2") await store.append(id, [sampleEvent(id, 1)], { flush: true });
      if (id !== "ses_3") await store.delete(id);
      await lease.release();
    }
    const look = async (at: typeof store, when: string) => {
      for (const [id, isDeleted] of [
        ["ses_1", true],
        ["ses_2", false],
        ["ses_3", false],
      ] as const) {
        const kept = await at.claim(`key of ${id}`, claimOf("ses_4"));
        same(kept, { ...claimOf(id), isDeleted }, `the claim of ${id} ${when}`);
      }
    };
    await look(store, "after the deletion");
    await look(await reopen(), "after a reopening");
  },
};
