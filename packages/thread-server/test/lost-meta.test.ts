import { mkdir, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createFileThreadStore } from "../src/node/index.ts";
import { ownDirectory, serve as serveAgent } from "./support/serve.ts";
import { sayingRunner } from "./support/tools.ts";

const serve = (root: string) => serveAgent({ root, runner: sayingRunner("x") });

/** A thread with one turn, its server gone. */
const setUp = async () => {
  const root = await ownDirectory();
  const { server, client } = serve(root);
  const made = (await client.call("thread.create", { title: "Kept in the log" })).result.thread;
  const { threadId } = made;
  await client.runTurn(threadId);
  const events = await client.events(threadId);
  await server.close();
  const directory = join(root, "threads", threadId);
  return { root, threadId, made, events, directory, meta: join(directory, "meta.json") };
};

const damages: readonly [string, (meta: string) => Promise<void>][] = [
  ["is missing", (meta) => rm(meta)],
  ["is garbled", (meta) => writeFile(meta, '{"__proto__":')],
  ["names another thread", (meta) => writeFile(meta, '{"threadId":"ses_other","title":"","directory":"/"}')],
];

describe("a thread whose meta.json", () => {
  it.each(damages)(
    "%s is read from its log, and gets it anew from the server that uses it, not before",
    async (_what, damage) => {
      const { root, threadId, made, events, directory, meta } = await setUp();
      await damage(meta);
      const files = await readdir(directory);
      const before = await stat(directory);
      const store = createFileThreadStore({ root });
      const thread = { ...made, time: { created: made.time.created, updated: events.at(-1)?.time } };
      expect(await store.list()).toEqual([thread]);
      expect(await store.get(threadId)).toEqual(thread);
      expect(await readdir(directory)).toEqual(files);
      expect((await stat(directory)).mtimeMs).toBe(before.mtimeMs);
      const { client } = serve(root);
      expect(await client.events(threadId)).toEqual(events);
      expect(JSON.parse(await readFile(meta, "utf8"))).toMatchObject({ threadId, title: "Kept in the log" });
      await damage(meta);
      expect((await client.call("thread.delete", { threadId })).result).toEqual({ ok: true });
      await expect(stat(directory)).rejects.toMatchObject({ code: "ENOENT" });
    },
  );
});

describe("a thread of which neither meta.json nor the log can be read", () => {
  it.each([
    ["is empty", (log: string) => truncate(log, 0)],
    ["is gone", (log: string) => rm(log)],
    ["begins with another event", (log: string) => writeFile(log, '{"seq":1,"time":1,"type":"x"}\n')],
  ])("(the log %s) is not there, and can be deleted", async (_what, damage) => {
    const { root, threadId, directory, meta } = await setUp();
    await rm(meta);
    await damage(join(directory, "events.jsonl"));
    const { client } = serve(root);
    expect((await client.call("thread.list")).result.threads).toEqual([]);
    expect((await client.call("thread.get", { threadId })).error).toMatchObject({ code: -32001 });
    expect((await client.call("thread.delete", { threadId })).result).toEqual({ ok: true });
    await expect(stat(directory)).rejects.toMatchObject({ code: "ENOENT" });
    expect((await client.call("thread.delete", { threadId })).error).toMatchObject({ code: -32001 });
  });

  it("is not deleted while its lock is held", async () => {
    const { root } = await setUp();
    await mkdir(join(root, "threads/ses_1"));
    await writeFile(join(root, "threads/ses_1/lock.json"), "garbage");
    const { client } = serve(root);
    const { error } = await client.call("thread.delete", { threadId: "ses_1" });
    expect(error).toMatchObject({ code: -32002, data: { reason: "lock_unreadable" } });
  });
});
