import type { TimelineLimits } from "@harnesskit/timeline";
import { timelineStoreContract } from "@harnesskit/timeline/testing";
import { type Clock, systemClock } from "@harnesskit/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTimeline } from "../src/timeline-store.ts";
import { contractStores } from "./support/contract-stores.ts";
import { newSchema } from "./support/schema.ts";

let schema: Awaited<ReturnType<typeof newSchema>>;
beforeAll(async () => {
  schema = await newSchema();
});
afterAll(() => schema[Symbol.asyncDispose]());

// The clock of a case judges in place of the database's.
const openStores = ({ clock, limits }: { readonly clock: Clock; readonly limits: Partial<TimelineLimits> }) =>
  contractStores(schema, { clock, maxConnections: 2 }, (database, wakes) =>
    openTimeline(database, wakes, { limits, nowMs: clock.now }),
  );
const running = {
  type: "pre_action",
  atMs: 0,
  agent: "codex",
  session: "s1",
  depth: 0,
  summary: "bash ls",
  state: "running",
} as const;

it("leaves the running rows of another store that is open", async () => {
  const { store, reopen, dispose } = await openStores({ clock: systemClock, limits: {} });
  await store.write([{ type: "add", row: running, content: {} }]);
  const other = await reopen();
  expect(await other.write([{ type: "lose", writer: "gone", outcome: "the hub is gone" }])).toEqual([]);
  await Promise.all([store.close(), other.close()]);
  await dispose();
});

describe("the contract of timeline stores", () => {
  const cases = timelineStoreContract({
    name: "PostgreSQL",
    open: openStores,
  });
  it.each(cases.map(({ name, run }) => [name, run] as const))("%s", async (_, run) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
