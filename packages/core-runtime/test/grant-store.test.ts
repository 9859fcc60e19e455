import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createFileGrants, createMemoryGrants } from "../src/index.ts";
import { grantStoreContract } from "../src/testing/index.ts";

const contracts = [
  ...grantStoreContract({
    name: "grants in memory",
    open: ({ maxRecords }) => ({ store: createMemoryGrants([], maxRecords), dispose() {} }),
  }),
  ...grantStoreContract({
    name: "grants in a file",
    async open(limits) {
      const directory = await mkdtemp(join(tmpdir(), "hk-contract-"));
      const reopen = () => createFileGrants({ path: join(directory, "grants.json"), limits });
      return { store: reopen(), reopen, dispose: () => rm(directory, { recursive: true }) };
    },
  }),
];

describe("a store of grants", () => {
  it.each(contracts)("$name", ({ run }) => expect(run()).resolves.toBeUndefined());
});
