import { systemClock } from "@harnesskit/wire";
import { expect, it } from "vitest";
import { thread, write } from "./support/samples.ts";
import { newSchema } from "./support/schema.ts";

it("clocks that differ by minutes change nothing: leases are the database's", async () => {
  await using schema = await newSchema();
  const at = (minutes: number) => ({ ...systemClock, now: () => systemClock.now() + minutes * 60_000 });
  const early = await schema.open({ clock: at(-10) });
  const late = await schema.open({ clock: at(10) });
  const held = await early.graph.leases.acquire("k", { ttlMs: 60_000 });
  await expect(late.graph.leases.acquire("k", { ttlMs: 1 })).rejects.toMatchObject({ code: "lease_taken" });
  await held.release();
  const short = await late.graph.leases.acquire("k", { ttlMs: 200 });
  const next = await early.graph.leases.acquire("k", { ttlMs: 60_000, waitMs: 30_000 });
  expect(next.fence).toBeGreaterThan(short.fence);
  await expect(late.graph.commit({ session: write("s", []), leases: [short] })).rejects.toMatchObject({
    name: "StoreError",
    code: "lease_lost",
  });
  await early.threads.create(thread("ses_1"));
  await early.threads.lease("ses_1");
  await expect(late.threads.lease("ses_1")).rejects.toMatchObject({ code: "thread_locked" });
});
