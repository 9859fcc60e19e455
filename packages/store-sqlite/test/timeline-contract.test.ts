import { join } from "node:path";
import { timelineStoreContract } from "@harnesskit/timeline/testing";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { openTimelineStore } from "../src/index.ts";

describe("the contract of timeline stores", () => {
  const cases = timelineStoreContract({
    name: "SQLite",
    async open(settings) {
      const directory = await temporaryDirectory();
      const open = () => openTimelineStore({ file: join(directory.path, "timeline.db"), ...settings });
      return { store: await open(), reopen: open, dispose: async () => directory[Symbol.asyncDispose]() };
    },
  });
  it.each(cases.map(({ name, run }) => [name, run] as const))("%s", async (_, run) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
