import type { Event } from "@harnesskit/protocol/threads";
import type { OpenedStore } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import type { ThreadStore } from "../src/index.ts";
import { createMemoryThreadStore } from "../src/memory-thread-store.ts";
import { createFileThreadStore } from "../src/node/index.ts";
import { threadStoreContract } from "../src/testing/index.ts";
import { overriding } from "./support/overriding.ts";

const inMemory = (): OpenedStore<ThreadStore> => ({ store: createMemoryThreadStore(), dispose: () => {} });

const inFiles = async (): Promise<OpenedStore<ThreadStore>> => {
  const dir = await temporaryDirectory();
  const open = () => createFileThreadStore({ root: dir.path });
  return {
    store: open(),
    reopen: open,
    async dispose() {
      await dir[Symbol.asyncDispose]();
    },
  };
};

describe("the contract of a thread store", () => {
  it.each(threadStoreContract({ name: "memory", makeStore: inMemory }))("$name", ({ run }) => run());
  it.each(threadStoreContract({ name: "files", makeStore: inFiles }))("$name", ({ run }) => run());
});

/** Ways to break the contract, each with a case that has to notice it. */
const breaks: readonly [string, string, (store: ThreadStore) => Partial<ThreadStore>][] = [
  [
    "keeps the grants of a deleted thread",
    "a thread that was deleted",
    (store) => ({
      async delete(id) {
        const grants = await store.grants();
        await store.delete(id);
        for (const grant of grants) await store.addGrant(grant);
      },
    }),
  ],
  [
    "takes afterSeq for from",
    "afterSeq and limit",
    (store) => ({
      events: (id, { afterSeq = 0, ...rest } = {}) =>
        store.events(id, { afterSeq: Math.max(0, afterSeq - 1), ...rest }),
    }),
  ],
  [
    "buffers what it said it stored",
    "what was stored is there",
    (store) => {
      const buffered: Event[] = [];
      return {
        append: async (_id, events) => void buffered.push(...structuredClone(events)),
        async *events(_id, { afterSeq = 0, limit } = {}) {
          yield* buffered.slice(afterSeq, limit === undefined ? undefined : afterSeq + limit);
        },
        lastEvents: async () => buffered,
        close: () => store.close(),
      };
    },
  ],
  [
    "leases to everybody",
    "one lease of a thread",
    () => ({ lease: async () => ({ release: async () => {} }) }),
  ],
  [
    "forgets that a thread was deleted",
    "a claim says that its thread",
    (store) => ({ claim: async (key, claim) => ({ ...(await store.claim(key, claim)), isDeleted: false }) }),
  ],
  [
    "gives events of all types",
    "events of some types",
    (store) => ({ events: (id, { types: _, ...options } = {}) => store.events(id, options) }),
  ],
];

describe("a store that breaks its contract", () => {
  it.each(breaks)("because it %s is found by the case: %s", async (_how, caseName, breaking) => {
    const cases = threadStoreContract({
      name: "broken",
      makeStore() {
        const { store, dispose } = inMemory();
        return { store: overriding(store, breaking(store)), reopen: () => store, dispose };
      },
    });
    const found = cases.filter(({ name }) => name.startsWith(`broken: ${caseName}`));
    expect(found).toHaveLength(1);
    await expect(found[0]?.run()).rejects.toMatchObject({ name: "ContractError", code: "contract_broken" });
  });
});
