import type { Event } from "@harnesskit/protocol/threads";
import type { OpenedStore } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../scripts/lib/test-kit.ts";
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
  ["forgets a thread", "a thread that was created", () => ({ get: async () => undefined })],
  [
    "lists in another order",
    "the list has the thread first",
    (store) => ({ list: async () => (await store.list()).reverse() }),
  ],
  ["ignores updates", "an update replaces", () => ({ update: async () => {} })],
  [
    "knows every id",
    "an id that the store does not know",
    (store) => ({
      lease: async (id) => ((await store.get(id)) ? store.lease(id) : { release: async () => {} }),
    }),
  ],
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
    "turns a batch round",
    "events are given in the order",
    (store) => ({ append: (id, events, options) => store.append(id, [...events].reverse(), options) }),
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
    "stops with the read before",
    "the last events end with",
    (store) => ({ lastEvents: async (id, maxBytes) => (await store.lastEvents(id, maxBytes)).slice(0, -1) }),
  ],
  [
    "gives everything as the last events",
    "the last events end with",
    (store) => ({ lastEvents: (id) => store.lastEvents(id, Number.MAX_SAFE_INTEGER) }),
  ],
  [
    "cuts large events",
    "a large event and many",
    (store) => ({
      append: (id, events, options) =>
        store.append(
          id,
          events.map((event) =>
            event.type === "item.delta"
              ? { ...event, data: { ...event.data, delta: event.data.delta.slice(0, 1e6) } }
              : event,
          ),
          options,
        ),
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
    "releases whatever is held",
    "releasing twice",
    (store) => {
      let current: Awaited<ReturnType<ThreadStore["lease"]>> | undefined;
      return {
        async lease(id) {
          current = await store.lease(id);
          return { release: async () => current?.release() };
        },
      };
    },
  ],
  [
    "leases to two that ask at once",
    "of many that ask",
    (store) => {
      let late = 0;
      return {
        lease: (id) =>
          store
            .lease(id)
            .catch((error) => (late++ === 0 ? { release: async () => {} } : Promise.reject(error))),
      };
    },
  ],
  ["holds on when it is closed", "closing releases", () => ({ close: async () => {} })],
  [
    "claims last come, first served",
    "a key is claimed once",
    (store) => {
      let count = 0;
      return { claim: (key, claim) => store.claim(`${key}${count++ === 1 ? "" : "?"}`, claim) };
    },
  ],
  [
    "forgets that a thread was deleted",
    "a claim says that its thread",
    (store) => ({ claim: async (key, claim) => ({ ...(await store.claim(key, claim)), isDeleted: false }) }),
  ],
  [
    "finds no grant by its digest",
    "grants are kept",
    (store) => ({ grants: async (options) => (options?.digest ? [] : store.grants()) }),
  ],
  [
    "counts characters for bytes",
    "an artifact is named",
    (store) => ({
      async openArtifact(id, name) {
        const writer = await store.openArtifact(id, name);
        let sizeBytes = 0;
        return {
          write: (text) => {
            sizeBytes += text.length;
            return writer.write(text);
          },
          close: async () => ({ ...(await writer.close()), sizeBytes }),
        };
      },
    }),
  ],
  [
    "reads an artifact that it does not have",
    "an artifact is named",
    (store) => ({
      readArtifact: async function* (id, name) {
        yield* store.readArtifact(id, name);
        yield Uint8Array.of(0);
      },
    }),
  ],
  [
    "takes any name",
    "an artifact's name",
    (store) => ({
      openArtifact: (id, name) => store.openArtifact(id, name.replaceAll(/[^a-z.]/g, "_") || "x"),
    }),
  ],
  [
    "gives events of all types",
    "events of some types",
    (store) => ({ events: (id, { types: _, ...options } = {}) => store.events(id, options) }),
  ],
  [
    "says that it removed",
    "grants are kept",
    (store) => ({ removeGrant: (id) => store.removeGrant(id).then(() => true) }),
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
