import type { Event } from "@harnesskit/protocol/threads";
import { describe, expect, it } from "vitest";
import { ModelFileSystem } from "../../../../scripts/lib/model-file-system.ts";
import type { ThreadStore } from "../../src/index.ts";
import { createFileThreadStore } from "../../src/node/index.ts";

const root = "/harness";
const thread = { threadId: "ses_1", title: "t", directory: "/", time: { created: 1, updated: 1 } };

const delta = (seq: number, length: number): Event => ({
  seq,
  time: 1,
  type: "item.delta",
  data: { threadId: "ses_1", turnId: "t", itemId: "i", type: "assistant_message", delta: "x".repeat(length) },
});

const open = async (): Promise<{ fileSystem: ModelFileSystem; store: ThreadStore }> => {
  const fileSystem = new ModelFileSystem();
  const store = createFileThreadStore({ root, fileSystem: fileSystem.calls, isOwnerDead: () => false });
  await store.create(thread);
  return { fileSystem, store };
};

const numbers = async (store: ThreadStore): Promise<number[]> => {
  const all: number[] = [];
  for await (const { seq } of store.events("ses_1")) all.push(seq);
  return all;
};

describe("an append that fails", () => {
  it.each([
    ["write", true],
    ["datasync", false],
  ] as const)(
    "at its %s, and cannot be taken back either, leaves nothing behind the next one",
    async (at, half) => {
      const { fileSystem, store } = await open();
      const lease = await store.lease("ses_1");
      await store.append("ses_1", [delta(1, 10)], { flush: true });
      fileSystem.plan = (_step, call) =>
        call === at || call === "truncate" ? { fault: "fail", code: "EIO", half } : undefined;
      const refused = store.append("ses_1", [delta(2, 10), delta(3, 2000), delta(4, 10)], { flush: true });
      await expect(refused).rejects.toMatchObject({ name: "ThreadStoreError", code: "store_failed" });
      // As long as the rest is there, nothing can be written behind it.
      fileSystem.plan = (_step, call) => (call === "truncate" ? { fault: "fail", code: "EIO" } : undefined);
      const blocked = store.append("ses_1", [delta(2, 5)], { flush: true });
      await expect(blocked).rejects.toMatchObject({ name: "ThreadStoreError", code: "store_failed" });
      fileSystem.plan = () => undefined;
      await store.append("ses_1", [delta(2, 5)], { flush: true });
      expect(await numbers(store)).toEqual([1, 2]);
      const log = fileSystem.disk
        .survivors("flushed")
        .get("harness/threads/ses_1/events.jsonl")
        ?.toString("utf8");
      expect(log).toBe(`${JSON.stringify(delta(1, 10))}\n${JSON.stringify(delta(2, 5))}\n`);
      await lease.release();
    },
  );

  it("says that the disk is full where it is", async () => {
    const { fileSystem, store } = await open();
    const lease = await store.lease("ses_1");
    fileSystem.plan = (_step, call) =>
      call === "write" ? { fault: "fail", code: "ENOSPC", half: true } : undefined;
    const refused = store.append("ses_1", [delta(1, 10)], { flush: false });
    await expect(refused).rejects.toMatchObject({ name: "ThreadStoreError", code: "store_full" });
    expect(await numbers(store)).toEqual([]);
    await lease.release();
  });
});

describe("a lease that fails", () => {
  it("at any call is not held, and the next one is got", async () => {
    const whole = await open();
    const before = whole.fileSystem.journal.length;
    await whole.store.lease("ses_1");
    for (let step = before; step < whole.fileSystem.journal.length; step++) {
      const { fileSystem, store } = await open();
      fileSystem.plan = (at) => (at === step ? { fault: "fail", code: "EIO" } : undefined);
      const call = whole.fileSystem.journal[step]?.call;
      await store.lease("ses_1").then(
        (lease) => lease.release(),
        (error) => expect(error, call).toMatchObject({ name: "ThreadStoreError", code: "store_failed" }),
      );
      fileSystem.plan = () => undefined;
      await (await store.lease("ses_1")).release();
      const names = [...fileSystem.disk.survivors("written").keys()].filter((name) => name.includes("lock"));
      expect(names, `after a failed ${call}`).toEqual([]);
    }
  });
});

const claimOf = (threadId: string) => ({ threadId, requestDigest: "sha256:0" });

describe("a claim", () => {
  it("that another server made and did not flush is flushed before it is answered", async () => {
    const { fileSystem, store } = await open();
    await store.claim("first", claimOf("ses_0"));
    let isLinked = false;
    fileSystem.plan = (_step, call) => {
      isLinked ||= call === "link";
      return isLinked && call === "sync" ? { fault: "fail", code: "EIO" } : undefined;
    };
    await expect(store.claim("key", claimOf("ses_1"))).rejects.toMatchObject({
      name: "ThreadStoreError",
      code: "store_failed",
    });
    fileSystem.plan = () => undefined;
    const kept = { ...claimOf("ses_1"), isDeleted: false };
    expect(await store.claim("key", claimOf("ses_2"))).toEqual(kept);
    const image = fileSystem.disk.survivors("flushed");
    const later = createFileThreadStore({ root, fileSystem: new ModelFileSystem({ image }).calls });
    expect(await later.claim("key", claimOf("ses_3"))).toEqual(kept);
  });
});
