import { join } from "node:path";
import { approvalStoreContract } from "@harnesskit/approvals/testing";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { openApprovalStore } from "../src/index.ts";

describe("the contract of approval stores", () => {
  const cases = approvalStoreContract({
    name: "SQLite",
    async open(settings) {
      const directory = await temporaryDirectory();
      const open = () => openApprovalStore({ file: join(directory.path, "approvals.db"), ...settings });
      return { store: await open(), reopen: open, dispose: async () => directory[Symbol.asyncDispose]() };
    },
  });
  it.each(cases.map(({ name, run }) => [name, run] as const))("%s", async (_, run) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
