import { join } from "node:path";
import { type StoredSession, toList } from "@harnesskit/graph";
import { graphStoreContract } from "@harnesskit/graph/testing";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../scripts/lib/test-kit.ts";
import { openSqliteStore } from "../src/index.ts";
import { openParts } from "./support/open-parts.ts";
import { plain, whole } from "./support/samples.ts";

const contract = (name: string, limits: { readonly maxCachedLength?: number }) =>
  graphStoreContract({
    name,
    async open() {
      const directory = await temporaryDirectory();
      const open = () => openSqliteStore({ file: join(directory.path, "store.db"), limits });
      return { store: await open(), reopen: open, dispose: async () => directory[Symbol.asyncDispose]() };
    },
  });

describe("the contract of stores", () => {
  const cases = [...contract("SQLite", {}), ...contract("SQLite without a cache", { maxCachedLength: 0 })];
  it.each(cases.map(({ name, run }) => [name, run] as const))("%s", async (_, run) => {
    await expect(run()).resolves.toBeUndefined();
  });
});

it("keeps as many states of a session as it may, and forgets those that it cannot give back", async () => {
  await using directory = await temporaryDirectory();
  const { store, file } = await openParts({
    file: join(directory.path, "store.db"),
    limits: { maxHistory: 3 },
  });
  const counts = async () =>
    (await store.sessions.history("s", 100)).map(({ state }) => plain({ state } as never));
  let loaded = (await store.sessions.save(whole("s", { list: [0], n: 0 }))) as { version: number };
  const save = async (keep: number, items: JsonValue[], n: number) => {
    const before = (await store.sessions.load("s")) as StoredSession;
    const list = toList((before.state.list as readonly JsonValue[]).slice(0, keep), items);
    const changes = { fields: { n }, lists: { list: { keep, items } }, removed: [] };
    const state = { list, n };
    loaded = await store.sessions.save({
      sessionId: "s",
      schemaVersion: "1",
      state,
      baseVersion: loaded.version,
      changes,
    });
  };
  for (const n of [1, 2, 3]) await save(n, [n], n);
  expect(await counts()).toEqual([
    { list: [0, 1, 2, 3], n: 3 },
    { list: [0, 1, 2], n: 2 },
    { list: [0, 1], n: 1 },
  ]);
  expect(file.get("SELECT count(*) FROM session_versions")).toEqual([3]);
  await save(1, ["cut"], 4);
  expect(await counts()).toEqual([{ list: [0, "cut"], n: 4 }]);
  await save(2, ["more"], 5);
  expect(await counts()).toEqual([
    { list: [0, "cut", "more"], n: 5 },
    { list: [0, "cut"], n: 4 },
  ]);
  await store.sessions.delete("s");
  expect(file.get("SELECT count(*) FROM session_versions")).toEqual([0]);
  await store.close();
});

it("a list that was removed, or became a value, leaves nothing behind when it is a list again", async () => {
  await using directory = await temporaryDirectory();
  const { store, file } = await openParts({ file: join(directory.path, "store.db") });
  let { version } = await store.sessions.save(whole("s", { one: [1, 2], two: [3, 4] }));
  const change = async (sample: Record<string, JsonValue>, removed: readonly string[]) => {
    const { state, changes } = whole("s", sample);
    const write = whole("s", {}, { state, changes: { ...changes, removed }, baseVersion: version });
    ({ version } = await store.sessions.save(write));
  };
  await change({ one: "a value" }, ["two"]);
  expect(file.get("SELECT count(*) FROM session_items")).toEqual([0]);
  await change({ one: [5], two: [6] }, []);
  const fresh = await openSqliteStore({ file: join(directory.path, "store.db") });
  expect(plain(await fresh.sessions.load("s"))).toEqual({ one: [5], two: [6] });
  await fresh.sessions.delete("s");
  for (const table of ["sessions", "session_fields", "session_items", "session_versions"]) {
    expect(file.get(`SELECT count(*) FROM ${table}`)).toEqual([0]);
  }
  await fresh.close();
  await store.close();
});
