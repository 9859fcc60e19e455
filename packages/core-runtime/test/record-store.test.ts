import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CoreGrant, createFileGrants, type RecordStore } from "../src/index.ts";
import { createMemoryRecords } from "../src/permissions/record-store.ts";
import { recordStoreContract } from "../src/testing/index.ts";
import type { OpenedRecords } from "../src/testing/record-store-contract.ts";

const time = "2026-01-01T00:00:00.000Z";
const grant = (number: number): CoreGrant => ({
  id: `grant_${number}`,
  agent_id: "demo.agent",
  permission: "net",
  granted_at: time,
  granted_by: "ada",
});

const inFile =
  <Item>(open: (options: { path: string; limits: { maxRecords: number } }) => RecordStore<Item>) =>
  async (limits: { readonly maxRecords: number }): Promise<OpenedRecords<Item>> => {
    const directory = await mkdtemp(join(tmpdir(), "hk-contract-"));
    const reopen = () => open({ path: join(directory, "records.json"), limits });
    return { store: reopen(), reopen, dispose: () => rm(directory, { recursive: true }) };
  };

const contracts = [
  ...recordStoreContract({
    name: "grants in memory",
    open: ({ maxRecords }) => ({ store: createMemoryRecords<CoreGrant>([], maxRecords), dispose() {} }),
    sample: grant,
  }),
  ...recordStoreContract({ name: "grants in a file", open: inFile(createFileGrants), sample: grant }),
];

describe("a store of records", () => {
  it.each(contracts)("$name", ({ run }) => expect(run()).resolves.toBeUndefined());
});
