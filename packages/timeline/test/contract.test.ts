import { describe, expect, it } from "vitest";
import { cpuTimer } from "../../../test-kit/test-kit.ts";
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

it("adds a row to many as fast as to few", async () => {
  const store = createMemoryTimelineStore();
  const row = {
    atMs: 1,
    agent: "a",
    session: "s",
    type: "pre_action",
    summary: "x",
    depth: 0,
    state: "done",
  } as const;
  const add = { type: "add", row, content: {} } as const;
  await store.write(Array.from({ length: 20_000 }, () => add));
  const spentMs = cpuTimer();
  for (let count = 0; count < 500; count++) await store.write([add]);
  expect(spentMs()).toBeLessThan(500);
});
