import { mkdir, readdir, readFile, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EventSchema, type Thread } from "@harnesskit/protocol/threads";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { ThreadStoreError, type TurnRunner } from "../src/index.ts";
import { createDirectoryResolver, createFileThreadStore } from "../src/node/index.ts";
import { nodeFileSystem } from "../src/node/store-directory.ts";
import { readAll } from "./support/failing-stores.ts";
import { ownDirectory, serve as serveAgent } from "./support/serve.ts";
import { sayingRunner } from "./support/tools.ts";

const thread = (threadId: string): Thread => ({
  threadId,
  title: "t",
  directory: "/",
  time: { created: 1, updated: 2 },
});

const serve = (root: string, runner: TurnRunner) =>
  serveAgent({ runner, store: createFileThreadStore({ root }) });

describe("files", () => {
  it("lie where the spec says, readable by their owner only, and a later server reads them", async () => {
    const dir = await ownDirectory();
    const root = join(dir, ".harness");
    const first = serve(root, sayingRunner("one ", "two"));
    const threadId = await first.client.createThread();
    await first.client.runTurn(threadId);
    const before = await first.client.events(threadId);
    await first.server.close();

    const files = join(root, "threads", threadId);
    expect((await readdir(files)).sort()).toEqual(["events.jsonl", "meta.json"]);
    const lines = (await readFile(join(files, "events.jsonl"), "utf8")).split("\n");
    expect(lines.pop()).toBe("");
    expect(lines.map((line) => EventSchema.parse(JSON.parse(line)))).toEqual(before);
    const meta = JSON.parse(await readFile(join(files, "meta.json"), "utf8"));
    expect(meta).toMatchObject({ threadId, title: "New thread", time: { created: expect.any(Number) } });
    expect((await stat(files)).mode & 0o777).toBe(0o700);
    expect((await stat(join(files, "events.jsonl"))).mode & 0o777).toBe(0o600);

    const second = serve(root, sayingRunner("three"));
    expect(await second.client.events(threadId)).toEqual(before);
    expect((await second.client.call("thread.list")).result.threads).toEqual([meta]);
    await second.client.runTurn(threadId);
    const after = await second.client.events(threadId);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.map(({ seq }) => seq)).toEqual(after.map((_, index) => index + 1));
  });

  it("are read again after a moment in which the system opened none", async () => {
    const dir = await ownDirectory();
    const root = join(dir, ".harness");
    const first = serve(root, sayingRunner("one"));
    const threadId = await first.client.createThread();
    await first.client.runTurn(threadId);
    await first.server.close();

    let isFull = false;
    const open: typeof nodeFileSystem.open = async (...args) => {
      if (isFull) throw Object.assign(new Error("too many open files"), { code: "EMFILE" });
      return nodeFileSystem.open(...args);
    };
    const store = createFileThreadStore({ root, fileSystem: { ...nodeFileSystem, open } });
    const lease = await store.lease(threadId);
    isFull = true;
    await expect(store.lastEvents(threadId, 4096)).rejects.toMatchObject({ code: "store_failed" });
    isFull = false;
    expect((await store.lastEvents(threadId, 4096)).at(-1)?.type).toBe("turn.completed");
    await lease.release();
    await store.close();
  });
});

describe("the end of a server", () => {
  it.each([
    ["fails", (_: () => void, reject: (reason: unknown) => void) => reject],
    ["returns without a word", (resolve: () => void) => resolve],
  ])("closes a running turn as server_closed, where its runner %s", async (_, stopOf) => {
    const dir = await ownDirectory();
    const { server, client } = serve(dir, {
      run: ({ signal }) =>
        new Promise<void>((resolve, reject) => {
          const stop = stopOf(resolve, reject);
          signal.addEventListener("abort", () => stop(signal.reason));
        }),
    });
    const threadId = await client.createThread();
    await client.startTurn(threadId);
    await client.notification("item.completed");
    await server.close();
    const events = await readAll(createFileThreadStore({ root: dir }).events(threadId));
    expect(events.at(-1)).toMatchObject({ type: "turn.error", data: { code: "server_closed" } });
  });
});

describe("a damaged log", () => {
  it.each([1, 5, 40])(
    "loses only a last line that was not written to its end (%i bytes missing)",
    async (missing) => {
      const dir = await ownDirectory();
      const first = serve(dir, sayingRunner("x"));
      const threadId = await first.client.createThread();
      await first.client.runTurn(threadId);
      const before = await first.client.events(threadId);
      await first.server.close();
      const file = join(dir, "threads", threadId, "events.jsonl");
      await truncate(file, (await stat(file)).size - missing);
      const second = serve(dir, sayingRunner("y"));
      const events = await second.client.events(threadId);
      expect(events.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
      expect(events.slice(before.length - 1)).toMatchObject([
        { type: "turn.error", data: { code: "interrupted" } },
      ]);
    },
  );

  it.each([
    ["is no JSON", (lines: string[]) => lines.splice(1, 1, "garbage"), 2],
    ["is empty", (lines: string[]) => lines.splice(1, 0, ""), 2],
    ["is no event", (lines: string[]) => lines.splice(2, 1, '{"seq":3}'), 3],
    ["is missing", (lines: string[]) => lines.splice(1, 1), 2],
    ["is there twice", (lines: string[]) => lines.splice(1, 0, lines[0] ?? ""), 2],
  ])(
    "is named with its line where one %s, and neither read, continued nor changed",
    async (_what, damage, line) => {
      const dir = await ownDirectory();
      const first = serve(dir, sayingRunner("x"));
      const threadId = await first.client.createThread();
      await first.client.runTurn(threadId);
      const other = await first.client.createThread();
      await first.server.close();
      const file = join(dir, "threads", threadId, "events.jsonl");
      const lines = (await readFile(file, "utf8")).split("\n");
      damage(lines);
      await writeFile(file, lines.join("\n"));

      const store = createFileThreadStore({ root: dir });
      const error = await readAll(store.events(threadId)).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(ThreadStoreError);
      expect(error).toMatchObject({
        code: "log_damaged",
        cause: { code: "journal_damaged", path: file, line },
      });
      const second = serve(dir, sayingRunner("y"));
      const refused = {
        code: -32603,
        message: expect.stringContaining(`line ${line}`),
        data: { reason: "log_damaged" },
      };
      expect((await second.client.startTurn(threadId)).error).toMatchObject(refused);
      expect((await second.client.call("thread.get", { threadId })).error).toMatchObject(refused);
      expect((await second.client.call("thread.subscribe", { threadId })).error).toMatchObject(refused);
      const listed = (await second.client.call("thread.list", {})).result as { threads: Thread[] };
      expect(listed.threads.map((each) => each.threadId).sort()).toEqual([threadId, other].sort());
      expect((await second.client.startTurn(other)).error).toBeUndefined();
      expect(await readFile(file, "utf8")).toBe(lines.join("\n"));
      expect((await second.client.call("thread.delete", { threadId })).error).toBeUndefined();
      expect(await store.get(threadId)).toBeUndefined();
    },
  );

  it("ignores what is no thread of this store", async () => {
    const dir = await ownDirectory();
    const store = createFileThreadStore({ root: dir });
    expect(await store.list()).toEqual([]);
    await store.create(thread("ses_1"));
    const threads = join(dir, "threads");
    await mkdir(join(threads, "ses_empty"));
    await mkdir(join(threads, "ses_other"));
    await writeFile(join(threads, "ses_other/meta.json"), JSON.stringify(thread("ses_1")));
    await writeFile(join(threads, "ses_file"), "");
    await writeFile(join(threads, "stray.txt"), "");
    expect(await store.list()).toEqual([thread("ses_1")]);
    for (const id of ["../threads/ses_1", "ses_../ses_1", "ses_1/", "", "ses_file", "ses_empty"]) {
      expect(await store.get(id)).toBeUndefined();
    }
  });
});

describe("the lock", () => {
  it("keeps a second server from writing, and lets it read", async () => {
    const dir = await ownDirectory();
    const first = serve(dir, sayingRunner("x"));
    const threadId = await first.client.createThread();
    const second = serve(dir, sayingRunner("y"));
    expect((await second.client.startTurn(threadId)).error).toMatchObject({
      code: -32002,
      data: { reason: "thread_locked" },
    });
    expect(await second.client.events(threadId)).toEqual(await first.client.events(threadId));
    await first.server.close();
    expect((await second.client.runTurn(threadId)).params.status).toBe("completed");
  });

  it("that names nobody holds, and is named", async () => {
    const dir = await ownDirectory();
    const store = createFileThreadStore({ root: dir });
    await store.create(thread("ses_1"));
    await writeFile(join(dir, "threads/ses_1/lock.json"), "garbage");
    await expect(store.lease("ses_1")).rejects.toMatchObject({
      name: "ThreadStoreError",
      code: "lock_unreadable",
      message: expect.stringContaining("threads/ses_1/lock.json"),
    });
  });
});

describe("directories", () => {
  it("of threads lie inside the server's, once links are followed", async () => {
    const dir = await ownDirectory();
    await using outside = await temporaryDirectory();
    await mkdir(join(dir, "sub"));
    await writeFile(join(dir, "file"), "");
    await symlink(outside.path, join(dir, "out"));
    await symlink(join(dir, "sub"), join(dir, "in"));
    const resolve = createDirectoryResolver(dir);
    const { client } = serveAgent({ resolveDirectory: resolve });
    const directoryOf = async (directory?: string) => {
      const { result, error } = await client.call(
        "thread.create",
        directory === undefined ? {} : { directory },
      );
      return result?.thread.directory ?? error?.code;
    };
    expect(await directoryOf()).toBe(dir);
    expect(await directoryOf("sub")).toBe(join(dir, "sub"));
    expect(await directoryOf("in")).toBe(join(dir, "sub"));
    expect(await directoryOf(join(dir, "sub"))).toBe(join(dir, "sub"));
    for (const bad of [
      "..",
      "/",
      "/etc",
      "out",
      "out/x",
      "missing",
      "file",
      "sub/../..",
      "a\0b",
      `${dir}x`,
    ]) {
      expect(await directoryOf(bad)).toBe(-32602);
    }
  });
});
