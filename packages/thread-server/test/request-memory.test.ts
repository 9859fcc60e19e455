import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../scripts/lib/test-kit.ts";
import { createThreadServer, type ThreadStore, ThreadStoreError } from "../src/index.ts";
import { createMemoryThreadStore } from "../src/memory-thread-store.ts";
import { createFileThreadStore } from "../src/node/index.ts";
import { overriding } from "./support/overriding.ts";
import { RawClient } from "./support/raw-client.ts";
import { sayingRunner } from "./support/tools.ts";

const serve = (store: ThreadStore) => {
  const server = createThreadServer({ runner: sayingRunner("x"), store });
  return { server, client: RawClient.connect(server) };
};

const dayMs = 24 * 60 * 60 * 1000;
const claimOf = (number: number) => ({ threadId: `ses_${number}`, requestDigest: `sha256:${number}` });

describe("thread.create with a known clientRequestId", () => {
  it.each(["memory", "files"])(
    "is -32001 once its thread was deleted, also after a restart (%s)",
    async (kind) => {
      await using dir = await temporaryDirectory();
      const memory = createMemoryThreadStore();
      const open = () => (kind === "memory" ? memory : createFileThreadStore({ root: dir.path }));
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
      await second.server.close();
    },
  );

  it.each(["memory", "files"])("makes the thread whose making failed before (%s)", async (kind) => {
    await using dir = await temporaryDirectory();
    const store = kind === "memory" ? createMemoryThreadStore() : createFileThreadStore({ root: dir.path });
    let fails = true;
    const failing = overriding(store, {
      append: async (...args) => {
        if (!fails) return store.append(...args);
        fails = false;
        throw new ThreadStoreError("store_full", "The disk is full");
      },
    });
    const { server, client } = serve(failing);
    const params = { title: "t", clientRequestId: "r1" };
    expect((await client.call("thread.create", params)).error?.data).toMatchObject({ reason: "store_full" });
    const { result } = await client.call("thread.create", params);
    expect((await client.call("thread.list")).result.threads).toEqual([result.thread]);
    await server.close();
  });
});

describe("what is remembered of requests", () => {
  it("is bounded in number: the oldest go first", async () => {
    await using dir = await temporaryDirectory();
    const store = createFileThreadStore({ root: dir.path, maxRequests: 10 });
    const requests = join(dir.path, "requests");
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

  it("is bounded in age, what a killed server left half-written too", async () => {
    await using dir = await temporaryDirectory();
    const clock = createManualClock(Date.now());
    const store = createFileThreadStore({ root: dir.path, maxRequestAgeMs: 7 * dayMs, clock });
    const requests = join(dir.path, "requests");
    await store.claim("old", claimOf(1));
    await writeFile(join(requests, "x.txt.tmp_00"), "");
    const eightDaysAgo = (clock.now() - 8 * dayMs) / 1000;
    for (const name of await readdir(requests))
      await utimes(join(requests, name), eightDaysAgo, eightDaysAgo);
    await store.claim("young", claimOf(2));
    // Looked at once an hour.
    expect(await readdir(requests)).toHaveLength(3);
    clock.advance(dayMs / 24);
    await store.claim("younger", claimOf(3));
    expect((await readdir(requests)).every((name) => name.endsWith(".txt"))).toBe(true);
    expect(await store.claim("young", claimOf(9))).toMatchObject(claimOf(2));
    expect(await store.claim("younger", claimOf(9))).toMatchObject(claimOf(3));
    expect(await store.claim("old", claimOf(9))).toMatchObject(claimOf(9));
  });

  it("is pruned when a thread is deleted, and makes no directory for that", async () => {
    await using dir = await temporaryDirectory();
    const clock = createManualClock(Date.now());
    const store = createFileThreadStore({ root: dir.path, maxRequestAgeMs: dayMs, clock });
    const requests = join(dir.path, "requests");
    for (const number of [1, 2]) {
      const threadId = `ses_${number}`;
      await store.create({ threadId, title: "t", directory: "/", time: { created: 1, updated: 1 } });
      const lease = await store.lease(threadId);
      const thread = (await store.get(threadId)) ?? expect.fail("no thread");
      await store.append(
        threadId,
        [{ seq: 1, time: 1, type: "thread.created", data: { threadId, thread } }],
        {
          flush: true,
        },
      );
      await store.delete(threadId);
      await lease.release();
      if (number === 1) {
        await expect(readdir(requests)).rejects.toMatchObject({ code: "ENOENT" });
        await store.claim("old", claimOf(9));
        clock.advance(2 * dayMs);
      }
    }
    expect((await readdir(requests)).filter((name) => name.endsWith(".txt"))).toEqual([]);
  });

  it("names no file outside of its directory, whatever lies in it", async () => {
    await using dir = await temporaryDirectory();
    const requests = join(dir.path, "requests");
    const store = createFileThreadStore({ root: dir.path });
    await store.claim("key", claimOf(1));
    const [name = ""] = await readdir(requests);
    await mkdir(join(dir.path, "outside.deleted"));
    for (const text of ["../outside digest", "", "ses_1", "ses_1\0 x"]) {
      await writeFile(join(requests, name), text);
      expect((await store.claim("key", claimOf(2))).isDeleted).toBe(false);
    }
  });
});
