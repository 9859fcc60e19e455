import { checkEqual, checkRejects, checkThat } from "@harnesskit/wire/testing";
import type { StoreCases } from "./graph-store-contract.ts";
import { firstWrite, pausePut } from "./store-samples.ts";

/** What every store does with a session and a suspension at once, and with leases. */
export const commitCases: StoreCases = {
  async "a session and a suspension are stored together"(context) {
    const receipt = await context.store.commit({
      session: firstWrite("s", { list: [1] }),
      suspension: pausePut("i1", { session_id: "s", is_session_saved: true }),
    });
    const other = await context.other();
    checkEqual((await other.sessions.load("s"))?.version, receipt.session?.version, "the session");
    checkEqual(
      (await other.suspensions.load("i1"))?.revision,
      receipt.suspension?.revision,
      "the suspension",
    );
    checkEqual(await context.store.commit({}), {}, "an empty batch");
  },
  async "where one of both is refused, neither is stored"({ store }) {
    const conflicting = firstWrite("s", { list: [1] }, { expectedVersion: 7 });
    const first = store.commit({ session: conflicting, suspension: pausePut("i1") });
    await checkRejects(first, "session_write_conflict", "a refused session");
    checkEqual(await store.suspensions.load("i1"), null, "the suspension beside a refused session");
    const second = store.commit({
      session: firstWrite("s", { list: [1] }),
      suspension: pausePut("i1", { expectedRevision: 7 }),
    });
    await checkRejects(second, "suspension_conflict", "a refused suspension");
    checkEqual(await store.sessions.load("s"), null, "the session beside a refused suspension");
  },
  async "a lease is held by one at a time"({ store }) {
    const first = await store.leases.acquire("k", { ttlMs: 60_000 });
    const other = await store.leases.acquire("another", { ttlMs: 60_000 });
    await checkRejects(store.leases.acquire("k", { ttlMs: 60_000 }), "lease_taken", "a second holder");
    let holders = 0;
    const waiting = ["a", "b", "c"].map(async () => {
      const lease = await store.leases.acquire("k", { ttlMs: 60_000, waitMs: 30_000 });
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
  async "another store of the storage sees a lease and may wait for it"(context) {
    const other = await context.other();
    const lease = await context.store.leases.acquire("k", { ttlMs: 60_000 });
    await checkRejects(other.leases.acquire("k", { ttlMs: 60_000 }), "lease_taken", "the other store");
    const waiting = other.leases.acquire("k", { ttlMs: 60_000, waitMs: 30_000 });
    await lease.release();
    const next = await waiting;
    await checkRejects(
      context.store.leases.acquire("k", { ttlMs: 60_000 }),
      "lease_taken",
      "the first store afterwards",
    );
    await next.release();
  },
  async "a caller may stop waiting for a lease"({ store }) {
    const lease = await store.leases.acquire("k", { ttlMs: 60_000 });
    const controller = new AbortController();
    const waiting = store.leases.acquire("k", { ttlMs: 60_000, waitMs: 30_000, signal: controller.signal });
    controller.abort();
    await checkRejects(waiting, "lease_taken", "a caller that stopped");
    const short = store.leases.acquire("k", { ttlMs: 60_000, waitMs: 5 });
    await checkRejects(short, "lease_taken", "a wait that ended");
    await lease.release();
    await (await store.leases.acquire("k", { ttlMs: 60_000 })).release();
  },
  async "a lease that is not renewed ends, and its holder can write no more"({ store }) {
    const lost = await store.leases.acquire("k", { ttlMs: 20 });
    const next = await store.leases.acquire("k", { ttlMs: 60_000, waitMs: 30_000 });
    await checkRejects(lost.renew(), "lease_lost", "a renewal of what was lost");
    await lost.release();
    const batch = { session: firstWrite("s", { list: [1] }) };
    await checkRejects(store.commit({ ...batch, leases: [lost] }), "lease_lost", "a write after the loss");
    checkEqual(await store.sessions.load("s"), null, "the refused session");
    await store.commit({ ...batch, leases: [next] });
    checkEqual((await store.sessions.load("s"))?.state, { list: [1] }, "the write of the holder");
    await next.release();
    await checkRejects(store.commit({ ...batch, leases: [next] }), "lease_lost", "a write after the release");
  },
  async "a store that was closed does nothing any more"({ store }) {
    await store.close();
    await store.close();
    const calls = [
      store.sessions.load("s"),
      store.sessions.save(firstWrite("s", {})),
      store.sessions.delete("s"),
      store.sessions.list(),
      store.suspensions.load("i"),
      store.suspensions.save(pausePut("i")),
      store.suspensions.delete("i"),
      store.suspensions.list(),
      store.runs.load("r"),
      store.runs.list(),
      store.runs.delete("r"),
      store.leases.acquire("k", { ttlMs: 1 }),
      store.commit({}),
    ];
    for (const call of calls) call.catch(() => {});
    for (const [index, call] of calls.entries()) await checkRejects(call, "store_closed", `call ${index}`);
  },
};
