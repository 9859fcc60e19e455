import { join } from "node:path";
import type { Event } from "@harnesskit/protocol/threads";
import { openPostgresStore, type PostgresThreads } from "@harnesskit/store-postgres";
import { openSqliteStore } from "@harnesskit/store-sqlite";
import type { ThreadStore } from "@harnesskit/thread-server";
import { createFileThreadStore } from "@harnesskit/thread-server/node";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type {} from "../../../../scripts/lib/postgres-setup.ts";
import { makeWorkspace, startHarness } from "../support/harness.ts";
import { harness } from "../support/in-process.ts";
import { newSchema } from "../support/postgres.ts";

const openSchema = async ({ url, schema }: { readonly url: string; readonly schema: string }) => {
  const store = await openPostgresStore({ url, schema });
  onTestFinished(() => store.close());
  return store;
};

const eventOf = (threadId: string, seq: number): Event => ({
  ...{ seq, time: 1000 + seq, type: "item.delta" },
  data: {
    threadId,
    turnId: "t",
    itemId: "i",
    type: "assistant_message",
    // Half of a surrogate pair, as a model may write it, has no canonical form.
    delta: `${seq} \ud800 ${"x".repeat(2000)}`,
  },
});

/** Text, and bytes that are none. */
const artifactParts = [...[0, 1, 2].map((part) => `${"é🙂".repeat(40_000)}${part}`), Buffer.of(0xff, 0x89)];

/** Threads with events, one of them with an artifact of several parts, and an `always` answer. */
const fill = async (store: ThreadStore, threads: number, events: number): Promise<void> => {
  for (let index = 1; index <= threads; index++) {
    const threadId = `ses_${index}`;
    const time = { created: 1, updated: index };
    await store.create({ threadId, title: `thread ${index}`, directory: "/w", time });
    const lease = await store.lease(threadId);
    if (index === 1) {
      const writer = await store.openArtifact(threadId, "out.txt");
      for (const part of artifactParts) await writer.write(part);
      await writer.close();
    }
    const all = Array.from({ length: events }, (_, place) => eventOf(threadId, place + 1));
    await store.append(threadId, all, { flush: true });
    await lease.release();
  }
  await store.addGrant({
    ...{ grantId: "grant_1", scope: "thread", threadId: "ses_1", directory: "/w", tool: "bash" },
    ...{ input: { command: "ls" }, digest: "sha256:1", requestId: "req_1", grantedBy: "ada", time: 1 },
  });
};

const seqsOf = async (store: ThreadStore, threadId: string): Promise<number[]> => {
  const seqs: number[] = [];
  for await (const { seq } of store.events(threadId)) seqs.push(seq);
  return seqs;
};

const base64Of = async (store: PostgresThreads, threadId: string, name: string): Promise<string> => {
  const parts: Uint8Array[] = [];
  for await (const part of store.readArtifact(threadId, name)) parts.push(part);
  return Buffer.concat(parts).toString("base64");
};

const artifact = Buffer.concat(artifactParts.map((part) => Buffer.from(part as string))).toString("base64");

describe("harness store copy between databases", () => {
  it("copies threads with their artifacts and grants, and refuses what differs", async () => {
    const cwd = await makeWorkspace();
    const [from, to] = [newSchema(), newSchema()];
    const source = await openSchema(from);
    await fill(source.threads, 3, 10);
    const target = await openSchema(to);
    const copy = (place = to.env.HARNESS_STORE) =>
      harness(["store", "copy", "postgres:", place, "--json"], { cwd, env: from.env });
    const done = await copy();
    expect([done.code, done.stderr]).toEqual([0, ""]);
    expect(JSON.parse(done.stdout)).toMatchObject({
      ...{ threads: { total: 3, copied: 3 }, grants: { total: 1, copied: 1 } },
      // Three threads, an artifact and a grant.
      ...{ verified: 5, left: {} },
    });
    expect(await target.threads.artifacts("ses_1")).toEqual(["out.txt"]);
    expect(await base64Of(target.threads, "ses_1", "out.txt")).toBe(artifact);
    expect(await seqsOf(target.threads, "ses_3")).toEqual(Array.from({ length: 10 }, (_, seq) => seq + 1));
    expect((await target.threads.grants()).map(({ grantId }) => grantId)).toEqual(["grant_1"]);
    expect(JSON.parse((await copy()).stdout)).toMatchObject({
      threads: { total: 3, copied: 0 },
      verified: 5,
    });
    const thread = await target.threads.get("ses_2");
    if (thread === undefined) throw new TypeError("the thread was not copied");
    await target.threads.update({ ...thread, title: "another" });
    expect(await copy()).toMatchObject({ code: 1, stderr: expect.stringContaining("ses_2") });
    // A file of conversations takes none of it, and the report says so.
    const left = await copy("sqlite:chat.sqlite");
    expect(left.code).toBe(0);
    expect(JSON.parse(left.stdout)).toMatchObject({ conversations: { total: 0 }, left: { threads: 3 } });
  });
});

describe("harness store copy that is killed in the middle of a thread", () => {
  it.each(["files", "postgres"])(
    "goes on at once, from %s",
    async (kind) => {
      const cwd = await makeWorkspace();
      const [from, to] = [newSchema(), newSchema()];
      if (kind === "files") {
        const source = createFileThreadStore({
          root: join(cwd, ".harness"),
          grantKeyPath: join(cwd, "state/harnesskit/grants.key"),
        });
        await fill(source, 3, 1500);
        await source.close();
      } else await fill((await openSchema(from)).threads, 3, 1500);
      const target = await openSchema(to);
      const env = { ...from.env, XDG_STATE_HOME: join(cwd, "state") };
      const args = [
        "store",
        "copy",
        kind === "files" ? "files:." : "postgres:",
        to.env.HARNESS_STORE,
        "--json",
      ];
      const dying = startHarness(args, { cwd, env });
      await vi.waitFor(
        async () => expect((await target.threads.lastEvents("ses_2", 1)).length).toBeGreaterThan(0),
        { interval: 5, timeout: 60_000 },
      );
      dying.child.kill("SIGKILL");
      await dying.ended;
      const there = (await seqsOf(target.threads, "ses_3")).length;
      expect(there).toBeLessThan(1500);
      const again = await harness(args, { cwd, env });
      expect([again.code, again.stderr]).toEqual([0, ""]);
      expect(JSON.parse(again.stdout)).toMatchObject({
        threads: { total: 3 },
        grants: { total: 1 },
        verified: 5,
      });
      for (const threadId of ["ses_1", "ses_2", "ses_3"]) {
        expect(await seqsOf(target.threads, threadId)).toHaveLength(1500);
      }
      expect(await base64Of(target.threads, "ses_1", "out.txt")).toBe(artifact);
    },
    120_000,
  );
});

describe("harness store copy to a file", () => {
  it.each(["sqlite", "postgres"])("copies conversations from %s", async (kind) => {
    const cwd = await makeWorkspace();
    const { env, url, schema } = newSchema();
    const file = join(cwd, "from.sqlite");
    const source =
      kind === "sqlite" ? await openSqliteStore({ file }) : (await openSchema({ url, schema })).graph;
    const changes = { fields: { turn: 1 }, lists: {}, removed: [] };
    for (const sessionId of ["a", "b"]) {
      const write = { sessionId, schemaVersion: "1", state: { turn: 1 }, baseVersion: null, changes };
      await source.sessions.save(write);
    }
    if (kind === "sqlite") await source.close();
    const from = kind === "sqlite" ? "sqlite:from.sqlite" : "postgres:";
    const copy = () => harness(["store", "copy", from, "sqlite:to.sqlite", "--json"], { cwd, env });
    const done = await copy();
    expect([done.code, done.stderr]).toEqual([0, ""]);
    expect(JSON.parse(done.stdout)).toMatchObject({
      conversations: { total: 2, copied: 2 },
      verified: 2,
      left: {},
    });
    expect(JSON.parse((await copy()).stdout)).toMatchObject({ conversations: { total: 2, copied: 0 } });
    const target = await openSqliteStore({ file: join(cwd, "to.sqlite") });
    expect((await target.sessions.load("b"))?.state).toEqual({ turn: 1 });
    await target.close();
  });
});
