import { checkEqual, checkRejects, checkThat } from "@harnesskit/wire/testing";
import { firstWrite, pausePut, type StoreCases } from "./store-samples.ts";

const ttl = { ttlMs: 60_000 };
const patient = { ...ttl, waitMs: 30_000 };

/** What every store does with a session and a suspension at once, and with leases. */
export const commitCases: StoreCases = {
  async "a session and a suspension are stored together, or neither"({ store, other }) {
    checkEqual(await store.commit({}), {}, "an empty batch");
    const session = firstWrite("s", { list: [1] });
    const first = store.commit({ session: { ...session, expectedVersion: 7 }, suspension: pausePut("i1") });
    await checkRejects(first, "session_write_conflict", "a refused session");
    checkEqual(await store.suspensions.load("i1"), null, "the suspension beside a refused session");
    const second = store.commit({ session, suspension: pausePut("i1", { expectedRevision: 7 }) });
    await checkRejects(second, "suspension_conflict", "a refused suspension");
    checkEqual(await store.sessions.load("s"), null, "the session beside a refused suspension");
    const paused = pausePut("i1", { session_id: "s", is_session_saved: true });
    const receipt = await store.commit({ session, suspension: paused });
    const { sessions, suspensions } = await other();
    checkEqual((await sessions.load("s"))?.version, receipt.session?.version, "the session");
    checkEqual((await suspensions.load("i1"))?.revision, receipt.suspension?.revision, "the suspension");
  },
  async "a lease is held by one at a time"({ store: { leases } }) {
    const first = await leases.acquire("k", ttl);
    const other = await leases.acquire("another", ttl);
    await checkRejects(leases.acquire("k", ttl), "lease_taken", "a second holder");
    let holders = 0;
    const waiting = ["a", "b", "c"].map(async () => {
      const lease = await leases.acquire("k", patient);
      checkEqual(++holders, 1, "how many hold it");
      holders--;
      await lease.release();
      return lease.fence;
    });
    await first.renew();
    await first.release();
    await first.release();
    const fences = [first.fence, ...(await Promise.all(waiting))];
    checkThat(new Set(fences).size === 4 && Math.min(...fences) === first.fence, `the fences: ${fences}`);
    await checkRejects(first.renew(), "lease_lost", "a renewal of what was given back");
    await other.release();
  },
  async "another store of the storage sees a lease and may wait for it"({ store, other }) {
    const second = await other();
    const lease = await store.leases.acquire("k", ttl);
    await checkRejects(second.leases.acquire("k", ttl), "lease_taken", "the other store");
    const waiting = second.leases.acquire("k", patient);
    await lease.release();
    const next = await waiting;
    await checkRejects(store.leases.acquire("k", ttl), "lease_taken", "the first store afterwards");
    await next.release();
  },
  async "a caller may stop waiting for a lease"({ store: { leases } }) {
    const lease = await leases.acquire("k", ttl);
    const controller = new AbortController();
    const waiting = leases.acquire("k", { ...patient, signal: controller.signal });
    controller.abort();
    await checkRejects(waiting, "lease_taken", "a caller that stopped");
    await checkRejects(leases.acquire("k", { ...ttl, waitMs: 5 }), "lease_taken", "a wait that ended");
    await lease.release();
    await (await leases.acquire("k", ttl)).release();
  },
  async "a lease that is not renewed ends, and its holder can write no more"({ store }) {
    const lost = await store.leases.acquire("k", { ttlMs: 20 });
    const next = await store.leases.acquire("k", patient);
    await checkRejects(lost.renew(), "lease_lost", "a renewal of what was lost");
    await lost.release();
    const session = firstWrite("s", { list: [1] });
    await checkRejects(store.commit({ session, leases: [lost] }), "lease_lost", "a write after the loss");
    checkEqual(await store.sessions.load("s"), null, "the refused session");
    await store.commit({ session, leases: [next] });
    checkEqual((await store.sessions.load("s"))?.state, { list: [1] }, "the write of the holder");
    await next.release();
    await checkRejects(store.commit({ session, leases: [next] }), "lease_lost", "a write after the release");
  },
  async "a store that was closed does nothing any more"({ store }) {
    const { sessions, suspensions, runs, leases } = store;
    await store.close();
    await store.close();
    const calls = [
      ...[sessions.load("s"), sessions.save(firstWrite("s", {})), sessions.delete("s"), sessions.list()],
      ...[
        suspensions.load("i"),
        suspensions.save(pausePut("i")),
        suspensions.delete("i"),
        suspensions.list(),
      ],
      ...[runs.load("r"), runs.list(), runs.delete("r"), leases.acquire("k", ttl), store.commit({})],
    ];
    for (const call of calls) call.catch(() => {});
    for (const [index, call] of calls.entries()) await checkRejects(call, "store_closed", `call ${index}`);
  },
};
