import { timelineStoreContract } from "@harnesskit/timeline/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTimeline } from "../src/timeline-store.ts";
import { contractStores } from "./support/contract-stores.ts";
import { newSchema } from "./support/schema.ts";

let schema: Awaited<ReturnType<typeof newSchema>>;
beforeAll(async () => {
  schema = await newSchema();
});
afterAll(() => schema[Symbol.asyncDispose]());

describe("the contract of timeline stores", () => {
  const cases = timelineStoreContract({
    name: "PostgreSQL",
    // The clock of the cases judges in place of the database's.
    open: ({ clock, limits }) =>
      contractStores(schema, { clock, maxConnections: 2 }, (database, wakes) =>
        openTimeline(database, wakes, { limits, nowMs: clock.now }),
      ),
  });
  it.each(cases.map(({ name, run }) => [name, run] as const))("%s", async (_, run) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
