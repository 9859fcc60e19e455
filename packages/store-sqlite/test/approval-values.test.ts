import { join } from "node:path";
import { sampleQuestion } from "@harnesskit/approvals/testing";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { openApprovalStore, openSqliteStore } from "../src/index.ts";
import { failed, outcomeOf } from "./support/outcome.ts";

describe("approvals in a file", () => {
  it("lie beside conversations, and outlive their process", async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, "store.db");
    const conversations = await openSqliteStore({ file });
    const before = await openApprovalStore({ file });
    const { record } = await before.ask(sampleQuestion());
    await before.close();
    await before.close();
    expect(await outcomeOf(before.get(record.id))).toEqual({ name: "StoreError", code: "store_closed" });
    const after = await openApprovalStore({ file });
    expect(await after.get(record.id)).toEqual(record);
    await after.close();
    await conversations.close();
  });

  it("refuse limits that are not valid, and records that the file cannot hold", async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, "store.db");
    const invalid = { name: "InvalidArgumentError", code: "invalid_argument" };
    expect(await outcomeOf(openApprovalStore({ file, limits: { maxOpen: 0 } }))).toEqual(invalid);
    expect(await outcomeOf(openApprovalStore({ file, limits: { maxSize: 1 } as never }))).toEqual(invalid);
    expect(await outcomeOf(openApprovalStore({ file: "" }))).toEqual(invalid);
    const store = await openApprovalStore({ file, limits: { maxValueLength: 1024 } });
    const large = sampleQuestion({ subject: { input: { command: "x".repeat(2000) } } });
    expect(await outcomeOf(store.ask(large))).toEqual(failed("too_large", "store_full"));
    expect((await store.page()).records).toEqual([]);
    await store.close();
  });
});
