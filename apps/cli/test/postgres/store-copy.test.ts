import { join } from "node:path";
import type { Event } from "@harnesskit/protocol/threads";
import { openPostgresStore } from "@harnesskit/store-postgres";
import type { ThreadStore } from "@harnesskit/thread-server";
import { createFileThreadStore } from "@harnesskit/thread-server/node";
import { describe, expect, it, onTestFinished } from "vitest";
import { eventually, makeWorkspace, startProcess } from "../support/harness.ts";
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

/** Three threads in the `.harness` of a directory, whose user's state is beside it. */
const fillFiles = async (cwd: string, events: number): Promise<void> => {
  const source = createFileThreadStore({
    root: join(cwd, ".harness"),
    grantKeyPath: join(cwd, "state/harnesskit/grants.key"),
  });
  await fill(source, 3, events);
  await source.close();
};

const seqsOf = async (store: ThreadStore, threadId: string): Promise<number[]> => {
  const seqs: number[] = [];
  for await (const { seq } of store.events(threadId)) seqs.push(seq);
  return seqs;
};

const base64Of = async (store: ThreadStore, threadId: string, name: string): Promise<string> => {
  const parts: Uint8Array[] = [];
  for await (const part of store.readArtifact(threadId, name)) parts.push(part);
  return Buffer.concat(parts).toString("base64");
};

const artifact = Buffer.concat(artifactParts.map((part) => Buffer.from(part as string))).toString("base64");

describe("harness store copy", () => {
  it("copies threads with their artifacts and grants, and refuses what differs", async () => {
    const cwd = await makeWorkspace();
    const to = newSchema();
    const target = await openSchema(to);
    const env = { ...to.env, XDG_STATE_HOME: join(cwd, "state") };
    await fillFiles(cwd, 10);
    const copy = () => harness("store copy files:. postgres: --json", { cwd, env });
    const done = await copy();
    expect([done.code, done.stderr]).toEqual([0, ""]);
    expect(JSON.parse(done.stdout)).toMatchObject({
      ...{ threads: { total: 3, copied: 3 }, grants: { total: 1, copied: 1 }, verified: 4 },
    });
    expect(await base64Of(target.threads, "ses_1", "out.txt")).toBe(artifact);
    expect(await seqsOf(target.threads, "ses_3")).toEqual(Array.from({ length: 10 }, (_, seq) => seq + 1));
    expect((await target.threads.grants()).map(({ grantId }) => grantId)).toEqual(["grant_1"]);
    expect(JSON.parse((await copy()).stdout)).toMatchObject({
      threads: { total: 3, copied: 0 },
      verified: 4,
    });
    const thread = await target.threads.get("ses_2");
    if (thread === undefined) throw new TypeError("the thread was not copied");
    await target.threads.update({ ...thread, title: "another" });
    expect(await copy()).toMatchObject({ code: 1, stderr: expect.stringContaining("ses_2") });
  });

  it.each([
    ["postgres:", "postgres:", "To copy a database: pg_dump"],
    ["sqlite:chat.sqlite", "sqlite:other.sqlite", "TO must be a database"],
    ["runs:log.state.jsonl", "postgres:", "is not a kind of store"],
    ["hub:.", "postgres:", "has no state of a hub"],
  ])("from %s to %s is wrong usage", async (from, to, text) => {
    const { env } = newSchema();
    const end = await harness(["store", "copy", from, to], { cwd: await makeWorkspace(), env });
    expect(end).toMatchObject({ code: 2, stderr: expect.stringContaining(text) });
  });

  it("goes on at once after it was killed in the middle of a thread", async () => {
    const cwd = await makeWorkspace();
    const to = newSchema();
    const target = await openSchema(to);
    await fillFiles(cwd, 1500);
    const env = { ...to.env, XDG_STATE_HOME: join(cwd, "state") };
    const args = ["store", "copy", "files:.", "postgres:", "--json"];
    const dying = startProcess(args, { cwd, env });
    await eventually(async () =>
      expect((await target.threads.lastEvents("ses_2", 1)).length).toBeGreaterThan(0),
    );
    dying.kill("SIGKILL");
    await dying.ended;
    const there = (await seqsOf(target.threads, "ses_3")).length;
    expect(there).toBeLessThan(1500);
    const again = await harness(args, { cwd, env });
    expect([again.code, again.stderr]).toEqual([0, ""]);
    expect(JSON.parse(again.stdout)).toMatchObject({
      ...{ threads: { total: 3 }, grants: { total: 1 }, verified: 4 },
    });
    for (const threadId of ["ses_1", "ses_2", "ses_3"]) {
      expect(await seqsOf(target.threads, threadId)).toHaveLength(1500);
    }
    expect(await base64Of(target.threads, "ses_1", "out.txt")).toBe(artifact);
  }, 120_000);
});
