import { approvalStoreContract } from "@harnesskit/approvals/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApprovals } from "../src/approval-store.ts";
import { contractStores } from "./support/contract-stores.ts";
import { newSchema } from "./support/schema.ts";

let schema: Awaited<ReturnType<typeof newSchema>>;
beforeAll(async () => {
  schema = await newSchema();
});
afterAll(() => schema[Symbol.asyncDispose]());

describe("the contract of approval stores", () => {
  const cases = approvalStoreContract({
    name: "PostgreSQL",
    // The clock of the cases judges in place of the database's.
    open: ({ clock, limits }) =>
      contractStores(schema, { clock, maxConnections: 4 }, (database, wakes) =>
        createApprovals(database, wakes, { limits, nowMs: clock.now }),
      ),
  });
  it.each(cases.map(({ name, run }) => [name, run] as const))("%s", async (_, run) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
