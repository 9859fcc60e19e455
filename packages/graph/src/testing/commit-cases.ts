import { demandRejection, demandSame } from "./contract-error.ts";
import type { StoreCase } from "./store-case.ts";
import { firstWrite, pause, plain } from "./store-samples.ts";

/** What every store does with a session and a suspension at once, and with leases. */
export const commitCases: readonly StoreCase[] = [
  {
    name: "a session and a suspension are stored together",
    async run(context) {
      const receipt = await context.store.commit({
        session: firstWrite("s", { list: [1] }),
        suspension: pause("i1", { session_id: "s", is_session_saved: true }),
      });
      const other = await context.other();
      demandSame((await other.sessions.load("s"))?.version, receipt.session?.version, "the session");
      demandSame(
        (await other.suspensions.load("i1"))?.revision,
        receipt.suspension?.revision,
        "the suspension",
      );
      demandSame(await context.store.commit({}), {}, "an empty batch");
    },
  },
  {
    name: "where one of both is refused, neither is stored",
    async run({ store }) {
      const conflicting = firstWrite("s", { list: [1] }, { expectedVersion: 7 });
      const first = store.commit({ session: conflicting, suspension: pause("i1") });
      await demandRejection(first, "session_write_conflict", "a refused session");
      demandSame(await store.suspensions.load("i1"), null, "the suspension beside a refused session");
      const second = store.commit({
        session: firstWrite("s", { list: [1] }),
        suspension: pause("i1", { expectedRevision: 7 }),
      });
      await demandRejection(second, "suspension_conflict", "a refused suspension");
      demandSame(await store.sessions.load("s"), null, "the session beside a refused suspension");
    },
  },
  {
    name: "a lease is held by one at a time, in the order of those who wait",
    async run({ store }) {
      const first = await store.leases.acquire("k", { ttlMs: 60_000 });
      const other = await store.leases.acquire("another", { ttlMs: 60_000 });
      await demandRejection(store.leases.acquire("k", { ttlMs: 60_000 }), "lease_taken", "a second holder");
      const order: string[] = [];
      const waiting = ["a", "b", "c"].map(async (name) => {
        const lease = await store.leases.acquire("k", { ttlMs: 60_000, waitMs: 30_000 });
        order.push(name);
        await lease.release();
        return lease.fence;
      });
      await first.renew();
      await first.release();
      await first.release();
      const fences = [first.fence, ...(await Promise.all(waiting))];
      demandSame(order, ["a", "b", "c"], "the order");
      demandSame(
        fences,
        [...fences].sort((a, b) => a - b),
        "the fences",
      );
      demandSame(new Set(fences).size, 4, "different fences");
      await demandRejection(first.renew(), "lease_lost", "a renewal of what was given back");
      await other.release();
    },
  },
  {
    name: "another store of the storage sees a lease and may wait for it",
    async run(context) {
      const other = await context.other();
      const lease = await context.store.leases.acquire("k", { ttlMs: 60_000 });
      await demandRejection(other.leases.acquire("k", { ttlMs: 60_000 }), "lease_taken", "the other store");
      const waiting = other.leases.acquire("k", { ttlMs: 60_000, waitMs: 30_000 });
      await lease.release();
      const next = await waiting;
      await demandRejection(
        context.store.leases.acquire("k", { ttlMs: 60_000 }),
        "lease_taken",
        "the first store afterwards",
      );
      await next.release();
    },
  },
  {
    name: "whoever waits may give up",
    async run({ store }) {
      const lease = await store.leases.acquire("k", { ttlMs: 60_000 });
      const controller = new AbortController();
      const waiting = store.leases.acquire("k", { ttlMs: 60_000, waitMs: 30_000, signal: controller.signal });
      controller.abort();
      await demandRejection(waiting, "lease_taken", "who gave up");
      const short = store.leases.acquire("k", { ttlMs: 60_000, waitMs: 5 });
      await demandRejection(short, "lease_taken", "who waited long enough");
      await lease.release();
      await (await store.leases.acquire("k", { ttlMs: 60_000 })).release();
    },
  },
  {
    name: "a lease that is not renewed ends, and its holder can write no more",
    async run({ store }) {
      const lost = await store.leases.acquire("k", { ttlMs: 20 });
      const next = await store.leases.acquire("k", { ttlMs: 60_000, waitMs: 30_000 });
      await demandRejection(lost.renew(), "lease_lost", "a renewal of what was lost");
      await lost.release();
      const batch = { session: firstWrite("s", { list: [1] }) };
      await demandRejection(
        store.commit({ ...batch, leases: [lost] }),
        "lease_lost",
        "a write of who lost it",
      );
      demandSame(await store.sessions.load("s"), null, "the refused session");
      await store.commit({ ...batch, leases: [next] });
      demandSame(plain((await store.sessions.load("s"))?.state), { list: [1] }, "the write of the holder");
      await next.release();
      await demandRejection(
        store.commit({ ...batch, leases: [next] }),
        "lease_lost",
        "a write after the release",
      );
    },
  },
  {
    name: "a store that was closed does nothing any more",
    async run({ store }) {
      await store.close();
      await store.close();
      const calls = [
        store.sessions.load("s"),
        store.sessions.save(firstWrite("s", {})),
        store.sessions.delete("s"),
        store.sessions.list(),
        store.suspensions.load("i"),
        store.suspensions.save(pause("i")),
        store.suspensions.delete("i"),
        store.suspensions.list(),
        store.leases.acquire("k", { ttlMs: 1 }),
        store.commit({}),
      ];
      for (const call of calls) call.catch(() => {});
      for (const [index, call] of calls.entries())
        await demandRejection(call, "store_closed", `call ${index}`);
    },
  },
];
