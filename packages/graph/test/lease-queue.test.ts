import { createDeferred, systemClock } from "@harnesskit/wire";
import { expect, it } from "vitest";
import { LeaseQueue, type LeaseTable } from "../src/index.ts";

it("a call that gave up while it asked gives back what it got, before the next call asks", async () => {
  const asked = createDeferred<void>();
  const answer = createDeferred<void>();
  const order: string[] = [];
  let fence = 0;
  let holder: number | undefined;
  const table: LeaseTable = {
    async take() {
      const own = ++fence;
      order.push(`asks ${own}`);
      if (own === 1) {
        asked.resolve();
        await answer.promise;
      }
      if (holder !== undefined) return { heldForMs: Number.POSITIVE_INFINITY };
      holder = own;
      return { fence: own };
    },
    renew() {},
    release(proof) {
      order.push(`releases ${proof.fence}`);
      if (holder === proof.fence) holder = undefined;
    },
  };
  const leases = new LeaseQueue({ table, clock: systemClock });
  const controller = new AbortController();
  const first = leases.acquire("k", { ttlMs: 1000, waitMs: 10_000, signal: controller.signal });
  await asked.promise;
  controller.abort();
  await expect(first).rejects.toMatchObject({ name: "StoreError", code: "lease_taken" });
  const second = leases.acquire("k", { ttlMs: 1000 });
  answer.resolve();
  expect((await second).fence).toBe(2);
  expect(order).toEqual(["asks 1", "releases 1", "asks 2"]);
});
