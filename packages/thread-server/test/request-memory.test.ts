import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ModelFileSystem } from "../../../test-kit/model-file-system.ts";
import { type ThreadStore, ThreadStoreError } from "../src/index.ts";
import { createMemoryThreadStore } from "../src/memory-thread-store.ts";
import { createFileThreadStore } from "../src/node/index.ts";
import { overriding } from "./support/overriding.ts";
import { RawClient } from "./support/raw-client.ts";
import { openServer, ownDirectory } from "./support/serve.ts";
import { sayingRunner } from "./support/tools.ts";

const serve = (store: ThreadStore) => {
  const server = openServer({ runner: sayingRunner("x"), store });
  return { server, client: RawClient.connect(server) };
};

const claimOf = (number: number) => ({ threadId: `ses_${number}`, requestDigest: `sha256:${number}` });

describe("thread.create with a known clientRequestId", () => {
  it.each(["memory", "files"])(
    "is -32001 once its thread was deleted, also after a restart (%s)",
    async (kind) => {
      const dir = await ownDirectory();
      const memory = createMemoryThreadStore();
      const open = () => (kind === "memory" ? memory : createFileThreadStore({ root: dir }));
      const first = serve(open());
      const params = { title: "t", clientRequestId: "r1" };
      const { threadId } = (await first.client.call("thread.create", params)).result.thread;
      expect((await first.client.call("thread.delete", { threadId })).result).toEqual({ ok: true });
      const gone = { code: -32001, data: { reason: "thread_deleted" } };
      expect((await first.client.call("thread.create", params)).error).toMatchObject(gone);
      expect((await first.client.call("thread.list")).result.threads).toEqual([]);
      const other = await first.client.call("thread.create", { ...params, title: "u" });
      expect(other.error?.code).toBe(-32005);
      await first.server.close();
      const second = serve(open());
      expect((await second.client.call("thread.create", params)).error).toMatchObject(gone);
      const next = await second.client.call("thread.create", { ...params, clientRequestId: "r2" });
      expect(next.result.thread.threadId).not.toBe(threadId);
    },
  );

  it.each(["memory", "files"])("makes the thread whose making failed before (%s)", async (kind) => {
    const dir = await ownDirectory();
    const store = kind === "memory" ? createMemoryThreadStore() : createFileThreadStore({ root: dir });
    let fails = true;
    const failing = overriding(store, {
      append: async (...args) => {
        if (!fails) return store.append(...args);
        fails = false;
        throw new ThreadStoreError("store_full", "The disk is full");
      },
    });
    const { client } = serve(failing);
    const params = { title: "t", clientRequestId: "r1" };
    expect((await client.call("thread.create", params)).error?.data).toMatchObject({ reason: "store_full" });
    const { result } = await client.call("thread.create", params);
    expect((await client.call("thread.list")).result.threads).toEqual([result.thread]);
  });
});

describe("what is remembered of requests", () => {
  it("is bounded in number: the oldest go first", async () => {
    const dir = await ownDirectory();
    const store = createFileThreadStore({ root: dir, maxRequests: 10 });
    const requests = join(dir, "requests");
    const known = new Set<string>();
    for (let number = 1; number <= 25; number++) {
      await store.claim(`key ${number}`, claimOf(number));
      const names = await readdir(requests);
      expect(names.length).toBeLessThanOrEqual(10);
      // Each a second older than the next, whatever the file system's clock can tell.
      const seconds = Date.now() / 1000 - 100 + number;
      for (const name of names) if (!known.has(name)) await utimes(join(requests, name), seconds, seconds);
      for (const name of names) known.add(name);
    }
    expect(await store.claim("key 25", claimOf(99))).toEqual({ ...claimOf(25), isDeleted: false });
    expect(await store.claim("key 17", claimOf(99))).toEqual({ ...claimOf(17), isDeleted: false });
    expect(await store.claim("key 1", claimOf(99))).toEqual({ ...claimOf(99), isDeleted: false });
  });

  it("names no file outside of its directory, whatever lies in it", async () => {
    const dir = await ownDirectory();
    const requests = join(dir, "requests");
    const store = createFileThreadStore({ root: dir });
    await store.claim("key", claimOf(1));
    const [name = ""] = await readdir(requests);
    await mkdir(join(dir, "outside.deleted"));
    for (const text of ["../outside digest", "", "ses_1", "ses_1\0 x"]) {
      await writeFile(join(requests, name), text);
      expect((await store.claim("key", claimOf(2))).isDeleted).toBe(false);
    }
  });

  it("is flushed before it is answered, where another server made it and did not", async () => {
    const root = "/harness";
    const fileSystem = new ModelFileSystem();
    const store = createFileThreadStore({ root, fileSystem: fileSystem.calls });
    await store.claim("first", claimOf(0));
    let isLinked = false;
    fileSystem.plan = (_step, call) => {
      isLinked ||= call === "link";
      return isLinked && call === "sync" ? { fault: "fail", code: "EIO" } : undefined;
    };
    await expect(store.claim("key", claimOf(1))).rejects.toMatchObject({
      name: "ThreadStoreError",
      code: "store_failed",
    });
    fileSystem.plan = () => undefined;
    const kept = { ...claimOf(1), isDeleted: false };
    expect(await store.claim("key", claimOf(2))).toEqual(kept);
    const image = fileSystem.disk.survivors("flushed");
    const later = createFileThreadStore({ root, fileSystem: new ModelFileSystem({ image }).calls });
    expect(await later.claim("key", claimOf(3))).toEqual(kept);
  });
});
