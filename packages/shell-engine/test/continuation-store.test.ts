import { systemClock } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { MemoryContinuationStore } from "../src/continuation-store.ts";
import { shellEngineLimits } from "../src/limits.ts";
import { continuationStoreContract } from "../src/testing/index.ts";

describe("the contract of continuation stores", () => {
  const cases = continuationStoreContract({
    name: "memory",
    open: () => ({
      store: new MemoryContinuationStore(shellEngineLimits.resolve({}), systemClock),
      dispose: () => {},
    }),
  });
  it.each(cases.map(({ name, run }) => [name, run] as const))("%s", async (_, run) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
