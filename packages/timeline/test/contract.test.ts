import { describe, expect, it } from "vitest";
import { createMemoryTimelineStore } from "../src/index.ts";
import { timelineStoreContract } from "../src/testing/index.ts";

describe("the contract of timeline stores", () => {
  const cases = timelineStoreContract({
    name: "memory",
    open: (settings) => ({ store: createMemoryTimelineStore(settings), dispose: () => {} }),
  });
  it.each(cases.map(({ name, run }) => [name, run] as const))("%s", async (_, run) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
