import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "vitest";
import { openFileStateStore } from "../../src/node/index.ts";
import { stateStoreContract } from "../../src/testing/index.ts";
import { createMemoryStateStore } from "../support/memory-state-store.ts";

describe("the contract of a store of the state", () => {
  const memory = stateStoreContract({
    name: "memory",
    open: () => ({ store: createMemoryStateStore(), dispose: () => {} }),
  });
  const file = stateStoreContract({
    name: "file",
    open: async () => {
      const directory = await mkdtemp(join(tmpdir(), "harness-state-"));
      const reopen = () => openFileStateStore({ path: join(directory, "state", "runs.jsonl") });
      return { store: reopen(), reopen, dispose: () => rm(directory, { recursive: true }) };
    },
  });
  for (const { name, run } of [...memory, ...file]) it(name, run);
});
