import { describe, expect, it } from "vitest";
import { createMemoryApprovalStore } from "../src/index.ts";
import { approvalStoreContract } from "../src/testing/index.ts";

describe("the contract of approval stores", () => {
  const cases = approvalStoreContract({
    name: "memory",
    open: (settings) => ({ store: createMemoryApprovalStore(settings), dispose: () => {} }),
  });
  it.each(cases.map(({ name, run }) => [name, run] as const))("%s", async (_, run) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
