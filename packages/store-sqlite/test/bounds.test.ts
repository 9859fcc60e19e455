import { stat } from "node:fs/promises";
import { join } from "node:path";
import { append, defineGraph, defineState, END, type StoredSession } from "@harnesskit/graph";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import type { SyncMode } from "../src/store-options.ts";
import { numberOf, openParts } from "./support/open-parts.ts";
import { added, pause, plain, whole } from "./support/samples.ts";

describe("the sessions that are remembered", () => {
  it("save reading a history again, until another store has written", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "store.db");
    const [one, other] = [await openParts({ file: path }), await openParts({ file: path })];
    await one.store.sessions.save(whole("s", { messages: [1] }));
    const first = await one.store.sessions.load("s");
    await one.store.sessions.save(added(first as StoredSession, [2]));
    const second = await one.store.sessions.load("s");
    expect(await one.store.sessions.load("s")).toBe(second);
    const [list, longer] = [first?.state.messages, second?.state.messages] as { lineage?: object }[];
    expect(longer?.lineage).toBe(list?.lineage);
    await other.store.sessions.save(added((await other.store.sessions.load("s")) as StoredSession, [3]));
    expect(plain(await one.store.sessions.load("s"))).toEqual({ messages: [1, 2, 3] });
    await one.store.close();
    await other.store.close();
  });
});

describe("suspensions that have ended", () => {
  it("are forgotten beyond maxEnded, the oldest first, unless they are to be delivered", async () => {
    await using directory = await temporaryDirectory();
    const { store, file } = await openParts({
      file: join(directory.path, "store.db"),
      limits: { maxEnded: 2 },
    });
    const end = async (invocationId: string, isDelivered: boolean) => {
      await store.suspensions.save(pause(invocationId));
      await store.suspensions.save({
        kind: "patch",
        invocationId,
        status: "completed",
        result: 1,
        isDelivered,
      });
    };
    const kept = async () => (await store.suspensions.list()).map((entry) => entry.invocation_id);
    await end("owed", false);
    for (const id of ["a", "b", "c"]) await end(id, true);
    expect(await kept()).toEqual(["owed", "b", "c"]);
    await store.suspensions.save(pause("waits"));
    await store.suspensions.save({ kind: "patch", invocationId: "owed", isDelivered: true });
    expect(await kept()).toEqual(["owed", "c", "waits"]);
    expect(file.get("SELECT count(*) FROM suspension_states")).toEqual([1]);
    await store.close();
  });
});

describe("what the disk is told to keep", () => {
  it.each([
    ["suspensions", ["FULL", "NORMAL", "NORMAL"]],
    ["all", ["FULL", "FULL", "NORMAL"]],
    ["none", ["NORMAL", "NORMAL", "NORMAL"]],
  ] as const)("is %s", async (sync, expected) => {
    await using directory = await temporaryDirectory();
    const { store, file } = await openParts({
      file: join(directory.path, "store.db"),
      sync: sync as SyncMode,
    });
    const level = () => (file.get("PRAGMA store.synchronous")?.[0] === 2 ? "FULL" : "NORMAL");
    const levels: string[] = [];
    await store.commit({ session: whole("s", { messages: [1] }), suspension: pause("i") });
    levels.push(level());
    await store.sessions.save(whole("s", { messages: [2] }));
    levels.push(level());
    await (await store.leases.acquire("k", { ttlMs: 1000 })).release();
    levels.push(level());
    expect(levels).toEqual(expected);
    await store.close();
  });
});

const message = z.object({ role: z.string(), content: z.string() });

const text = (length: number): string => "lorem ipsum dolor sit amet ".repeat(20).slice(0, length);

/** What a turn writes that adds a question and an answer to a history: rows, and bytes of the write-ahead log. */
const costOfTurn = async (history: number): Promise<{ rows: number; bytes: number }> => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, "store.db");
  const { store, file } = await openParts({ file: path });
  const messages = Array.from({ length: history }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: text(200),
  }));
  await store.sessions.save(whole("s", { messages }, { schemaVersion: "" }));
  const graph = defineGraph(defineState({ messages: append(message) }))
    .node("answer", () => ({ messages: [{ role: "assistant", content: text(200) }] }))
    .entry("answer")
    .edge("answer", END)
    .compile({ store });
  const turn = () =>
    graph.invoke({ sessionId: "s", initial: { messages: [{ role: "user", content: text(60) }] } });
  await turn();
  // From here on the log only grows.
  numberOf(file, "PRAGMA wal_autocheckpoint = 0");
  file.all("PRAGMA store.wal_checkpoint(TRUNCATE)");
  const turns = 20;
  const rowsBefore = numberOf(file, "SELECT total_changes()");
  let final = 0;
  for (let index = 0; index < turns; index++) final = (await turn()).state.messages.length;
  expect(final).toBe(history + 2 * (turns + 1));
  const rows = (numberOf(file, "SELECT total_changes()") - rowsBefore) / turns;
  const bytes = (await stat(`${path}-wal`)).size / turns;
  await store.close();
  return { rows, bytes };
};

describe("what a turn writes", () => {
  it("is as much after 10,000 messages as after 10", async () => {
    const [short, long] = [await costOfTurn(10), await costOfTurn(10_000)];
    // The number of the version, the session, its place in the history, and the two messages.
    expect(short.rows).toBe(5);
    expect(long.rows).toBe(5);
    expect(long.bytes).toBeLessThanOrEqual(short.bytes * 1.25);
  });
});
