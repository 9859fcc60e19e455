import { cp, mkdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Event, Thread } from "@harnesskit/protocol/threads";
import { createDeferred } from "@harnesskit/wire";
import { describe, expect, it, vi } from "vitest";
import type { ThreadStore } from "../src/index.ts";
import { createFileThreadStore } from "../src/node/index.ts";
import { nodeFileSystem } from "../src/node/store-directory.ts";
import { ownDirectory } from "./support/serve.ts";

const threadOf = (number: number, updated = number): Thread => ({
  threadId: `ses_${number}`,
  title: `thread ${number}`,
  directory: "/",
  time: { created: 1, updated },
});

const open = async () => {
  const root = join(await ownDirectory(), ".harness");
  const make = () => createFileThreadStore({ root });
  const [store, other] = [make(), make()];
  for (const number of [1, 2, 3]) await store.create(threadOf(number));
  return { root, make, store, other };
};

const ids = async (store: ThreadStore): Promise<string> =>
  (await store.list()).map(({ threadId }) => threadId.slice(4)).join(" ");

it("follows what other processes create, change and delete", async () => {
  const at = await open();
  expect([await ids(at.store), await ids(at.other)]).toEqual(["3 2 1", "3 2 1"]);
  await at.other.create(threadOf(4));
  await at.other.update(threadOf(1, 9));
  expect(await ids(at.store)).toBe("1 4 3 2");
  await (await at.store.lease("ses_4")).release();
  await at.store.lease("ses_3");
  await at.store.delete("ses_3");
  expect([await ids(at.store), await ids(at.other)]).toEqual(["1 4 2", "1 4 2"]);
});

it("has what was written in a process that died, and threads that were copied or removed by hand", async () => {
  const at = await open();
  await at.store.list();
  const threads = join(at.root, "threads");
  await writeFile(join(threads, "ses_2", "meta.json"), JSON.stringify(threadOf(2, 50)));
  await cp(join(threads, "ses_1"), join(threads, "ses_7"), { recursive: true });
  await writeFile(join(threads, "ses_7", "meta.json"), JSON.stringify(threadOf(7)));
  await rm(join(threads, "ses_3"), { recursive: true });
  expect(await ids(at.store)).toBe("2 7 1");
  expect(await ids(at.make())).toBe("2 7 1");
});

it("has when a held thread was used, whose meta.json says it when it is given back", async () => {
  const at = await open();
  expect([await ids(at.store), await ids(at.other)]).toEqual(["3 2 1", "3 2 1"]);
  const meta = join(at.root, "threads", "ses_1", "meta.json");
  const lease = await at.store.lease("ses_1");
  const { mtimeMs } = await stat(meta);
  for (let updated = 10; updated < 20; updated++) await at.store.update(threadOf(1, updated));
  expect(await at.store.get("ses_1")).toEqual(threadOf(1, 19));
  expect(await ids(at.store)).toBe("1 3 2");
  expect((await stat(meta)).mtimeMs).toBe(mtimeMs);
  await at.store.update({ ...threadOf(1, 20), title: "renamed" });
  expect(JSON.parse(await readFile(meta, "utf8"))).toMatchObject({ title: "renamed", time: { updated: 20 } });
  await at.store.update({ ...threadOf(1, 21), title: "renamed" });
  await lease.release();
  expect(JSON.parse(await readFile(meta, "utf8"))).toMatchObject({ title: "renamed", time: { updated: 21 } });
  expect(await at.other.list()).toEqual(await at.store.list());
});

it("has when a thread was used last by a server that was killed, and keeps it from then on", async () => {
  const at = await open();
  const created = { threadId: "ses_1", thread: threadOf(1) };
  const log: Event[] = [{ seq: 1, time: 50, type: "thread.created", data: created }];
  await at.store.lease("ses_1");
  await at.store.append("ses_1", log, { flush: true });
  await at.store.update(threadOf(1, 50));
  const later = createFileThreadStore({ root: at.root, isOwnerDead: () => true });
  expect([await ids(later), (await later.get("ses_1"))?.time.updated]).toEqual(["1 3 2", 50]);
  await (await later.lease("ses_1")).release();
  expect((await at.make().get("ses_1"))?.time.updated).toBe(50);
  expect(await ids(at.make())).toBe("1 3 2");
});

it("keeps threads in a directory of another user, whose times it may not set", async () => {
  const at = await open();
  const utimesSync = () => {
    throw Object.assign(new Error("EPERM"), { code: "EPERM" });
  };
  const store = createFileThreadStore({ root: at.root, fileSystem: { ...nodeFileSystem, utimesSync } });
  await store.create(threadOf(4));
  await store.update(threadOf(1, 9));
  expect(await ids(store)).toBe("1 4 3 2");
});

it("looks at no file of a thread for what this process itself has changed", async () => {
  const at = await open();
  const looks: string[] = [];
  const fileSystem = {
    ...nodeFileSystem,
    lstatSync: ((path: string) => {
      looks.push(path);
      return nodeFileSystem.lstatSync(path);
    }) as typeof nodeFileSystem.lstatSync,
  };
  const store = createFileThreadStore({ root: at.root, fileSystem });
  expect(await ids(store)).toBe("3 2 1");
  await store.lease("ses_1");
  await store.update({ ...threadOf(1, 9), title: "renamed" });
  await store.update(threadOf(2, 8));
  looks.length = 0;
  expect(await ids(store)).toBe("1 2 3");
  expect(looks.filter((path) => path.includes("ses_"))).toEqual([]);
  await at.other.update(threadOf(3, 7));
  expect((await store.list()).map(({ time }) => time.updated)).toEqual([9, 8, 7]);
});

it("lists all threads for two that ask at the same time, and again after a directory that could not be read", async () => {
  const at = await open();
  let isBroken = true;
  const readdir: typeof nodeFileSystem.readdir = (async (path: string) => {
    if (isBroken) throw Object.assign(new Error("EMFILE"), { code: "EMFILE" });
    return nodeFileSystem.readdir(path);
  }) as never;
  const store = createFileThreadStore({ root: at.root, fileSystem: { ...nodeFileSystem, readdir } });
  await expect(store.list()).rejects.toMatchObject({ code: "store_failed" });
  isBroken = false;
  expect(await Promise.all([ids(store), ids(store)])).toEqual(["3 2 1", "3 2 1"]);
});

it("finds what another process wrote while the time of the directory stood still, once it is surely past", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  try {
    const at = await open();
    const store = createFileThreadStore({
      root: at.root,
      fileSystem: { ...nodeFileSystem, utimesSync: () => {} },
    });
    await store.list();
    await writeFile(join(at.root, "threads", "ses_2", "meta.json"), JSON.stringify(threadOf(2, 50)));
    expect(await ids(store)).toBe("3 2 1");
    vi.advanceTimersByTime(2000);
    expect(await ids(store)).toBe("2 3 1");
  } finally {
    vi.useRealTimers();
  }
});

it("lists the others where the system does not let it look at one", async () => {
  const at = await open();
  await symlink("ses_8", join(at.root, "threads", "ses_8"));
  const errors: unknown[] = [];
  const store = createFileThreadStore({ root: at.root, onError: (error) => errors.push(error) });
  expect(await ids(store)).toBe("3 2 1");
  expect(errors).toMatchObject([{ code: "store_failed" }]);
});

describe("a list that still reads what could not be read, while another process changes threads", () => {
  /** A store with such a list, which goes on with `goOn`. Where `holdsMeta`, nothing else that is opened can be read until then. */
  const setUp = async () => {
    const at = await open();
    const threads = join(at.root, "threads");
    await mkdir(join(threads, "ses_9"));
    const [held, opened] = [createDeferred<void>(), createDeferred<void>()];
    let [isHeld, isOpenHeld] = [false, false];
    const readdir: typeof nodeFileSystem.readdir = (async (path: string) => {
      if (isHeld && path.endsWith("ses_9")) {
        isHeld = false;
        await held.promise;
      }
      return nodeFileSystem.readdir(path);
    }) as never;
    const openFile: typeof nodeFileSystem.open = (async (
      ...given: Parameters<typeof nodeFileSystem.open>
    ) => {
      if (isOpenHeld && String(given[0]).includes("ses_1")) await opened.promise;
      return nodeFileSystem.open(...given);
    }) as never;
    const store = createFileThreadStore({
      root: at.root,
      fileSystem: { ...nodeFileSystem, readdir, open: openFile },
    });
    expect(await ids(store)).toBe("3 2 1");
    isHeld = true;
    const listed = ids(store);
    await vi.waitFor(() => expect(isHeld).toBe(false));
    const holdOpen = () => {
      isOpenHeld = true;
    };
    return { ...at, store, threads, listed, goOn: held.resolve, holdOpen, letOpen: opened.resolve };
  };

  it("has the threads that are read anew, as they were", async () => {
    const { other, store, listed, goOn, holdOpen, letOpen } = await setUp();
    await other.update({ ...threadOf(1, 9), title: "renamed" });
    holdOpen();
    const later = ids(store);
    goOn();
    expect(await listed).toBe("3 2 1");
    letOpen();
    expect(await later).toBe("1 3 2");
  });

  it("forgets none of those that another list could not read", async () => {
    const { store, threads, listed, goOn } = await setUp();
    await mkdir(join(threads, "ses_8"));
    expect(await ids(store)).toBe("3 2 1");
    goOn();
    await listed;
    await writeFile(join(threads, "ses_8", "meta.json"), JSON.stringify(threadOf(8)));
    expect(await ids(store)).toBe("8 3 2 1");
  });
});
