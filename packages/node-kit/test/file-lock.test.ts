import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import {
  acquireFileLock,
  type FileLock,
  FileLockError,
  isLockOwnerDead,
  readFileLock,
} from "../src/index.ts";
import { processStart } from "../src/process-identity.ts";

const deadPid = 2 ** 22 + 1;
const failure = (work: Promise<unknown>): Promise<FileLockError> =>
  work.then(
    () => expect.fail("it was acquired"),
    (error: unknown) => (FileLockError.isInstance(error) ? error : expect.fail(String(error))),
  );

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let path: string;
beforeEach(async () => {
  directory = await temporaryDirectory();
  path = join(directory.path, "lock");
  return () => directory[Symbol.asyncDispose]();
});

describe("acquireFileLock", () => {
  it("holds a lock once, also within one process, until it is released", async () => {
    const lock = await acquireFileLock(path);
    expect(await readFileLock(path)).toEqual(lock.owner);
    expect(lock.owner).toMatchObject({ pid: process.pid, host: hostname() });
    const error = await failure(acquireFileLock(path));
    expect([error.code, error.owner]).toEqual(["file_locked", lock.owner]);
    await lock.release();
    await lock.release();
    await (await acquireFileLock(path)).release();
    expect(await readdir(directory.path)).toEqual([]);
  });

  it("waits as long as it is asked to, and goes to each of many in turn", async () => {
    let held = 0;
    const holdOnce = async () => {
      const lock = await acquireFileLock(path, { waitMs: 30_000 });
      expect(++held).toBe(1);
      await readFileLock(path);
      held--;
      await lock.release();
    };
    await Promise.all(Array.from({ length: 8 }, holdOnce));
    const lock = await acquireFileLock(path);
    let waitedMs = 0;
    const after = (delayMs: number, callback: () => void) => {
      waitedMs += delayMs;
      queueMicrotask(callback);
      return () => {};
    };
    const error = await failure(
      acquireFileLock(path, { waitMs: 250, clock: { now: () => 0, elapsedMs: () => waitedMs, after } }),
    );
    expect([error.code, Math.round(waitedMs)]).toEqual(["file_locked", 250]);
    await lock.release();
  });

  it("goes to one of many that want the lock of a dead process, which leaves no file behind", async () => {
    for (let round = 0; round < 10; round++) {
      await writeFile(
        path,
        JSON.stringify({ pid: deadPid, host: hostname(), started: "", nonce: `dead-${round}` }),
      );
      const results = await Promise.allSettled(Array.from({ length: 8 }, () => acquireFileLock(path)));
      const held = results.filter((result) => result.status === "fulfilled");
      expect(held).toHaveLength(1);
      expect(await readFileLock(path)).toEqual((held[0] as PromiseFulfilledResult<FileLock>).value.owner);
      await held[0]?.value.release();
      expect(await readdir(directory.path)).toEqual([]);
    }
  });

  it("takes over a lock whose process was killed, and a takeover whose process was killed", async () => {
    const child = spawn(process.execPath, ["-e", "process.stdin.resume(); console.log('up')"]);
    await once(child.stdout, "data");
    const pid = child.pid as number;
    const owner = { pid, host: hostname(), started: processStart(pid), nonce: "killed" };
    await writeFile(path, JSON.stringify(owner));
    await writeFile(`${path}.killed.stale`, JSON.stringify({ ...owner, nonce: "taking-over" }));
    expect((await failure(acquireFileLock(path))).owner?.pid).toBe(pid);
    child.kill("SIGKILL");
    await once(child, "close");
    await (await acquireFileLock(path)).release();
    expect(await readdir(directory.path)).toEqual([]);
  });

  it.runIf(process.platform === "linux")(
    "takes over a lock whose process id belongs to a later process",
    async () => {
      await writeFile(
        path,
        JSON.stringify({ pid: process.pid, host: hostname(), started: "1", nonce: "earlier" }),
      );
      await (await acquireFileLock(path)).release();
    },
  );

  it("takes over a lock that came with a copied directory, whose process lives, and leaves the original", async () => {
    const lock = await acquireFileLock(path);
    const copy = join(directory.path, "copy");
    await writeFile(copy, await readFile(path));
    const second = await acquireFileLock(copy);
    expect((await failure(acquireFileLock(path))).code).toBe("file_locked");
    expect((await failure(acquireFileLock(copy))).code).toBe("file_locked");
    await second.release();
    await lock.release();
    expect(await readdir(directory.path)).toEqual([]);
  });

  it("leaves a lock of another host as it is", async () => {
    const text = JSON.stringify({ pid: 1, host: "elsewhere", nonce: "x" });
    await writeFile(path, text);
    expect((await failure(acquireFileLock(path))).code).toBe("file_locked");
    expect(await readFile(path, "utf8")).toBe(text);
  });

  it.each([
    "gibberish",
    "null",
    "{}",
    JSON.stringify({ pid: 0, host: "h", nonce: "n" }),
    JSON.stringify({ pid: 1, host: "h", nonce: "../n" }),
  ])("does not touch a lock that names no process: %s", async (text) => {
    await writeFile(path, text);
    expect(await readFileLock(path)).toBe("unreadable");
    expect((await failure(acquireFileLock(path))).code).toBe("lock_unreadable");
    expect(await readFile(path, "utf8")).toBe(text);
  });

  it("does not follow a link in the place of the lock", async () => {
    await symlink("/dev/zero", path);
    expect((await failure(acquireFileLock(path))).code).toBe("lock_unreadable");
  });

  it("does not remove a lock that another process has taken meanwhile", async () => {
    const lock = await acquireFileLock(path);
    const text = JSON.stringify({ pid: 1, host: hostname(), nonce: "other" });
    await writeFile(path, text);
    await lock.release();
    expect(await readFile(path, "utf8")).toBe(text);
  });

  it("asks the caller whether an owner is dead", async () => {
    const first = await acquireFileLock(path);
    expect(isLockOwnerDead(first.owner)).toBe(false);
    const second = await acquireFileLock(path, { isOwnerDead: ({ nonce }) => nonce === first.owner.nonce });
    expect(second.owner.nonce).not.toBe(first.owner.nonce);
  });
});
