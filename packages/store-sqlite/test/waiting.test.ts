import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { createManualClock } from "@harnesskit/wire/testing";
import Database from "libsql";
import { describe, expect, it } from "vitest";
import { nextTurn, temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { openSqliteStore, type SqliteStoreOptions } from "../src/index.ts";
import { openParts } from "./support/open-parts.ts";
import { failed, outcomeOf } from "./support/outcome.ts";
import { added, plain, whole } from "./support/samples.ts";

/** A store with a session, and somebody else who holds its file. */
const openLocked = async (options: Partial<SqliteStoreOptions>) => {
  const directory = await temporaryDirectory();
  const file = join(directory.path, "store.db");
  const store = await openSqliteStore({ file, ...options });
  await store.sessions.save(whole("s", { messages: ["before"] }));
  const holder = new Database(":memory:");
  holder.prepare("ATTACH ? AS store").run([file]);
  holder.exec("BEGIN IMMEDIATE");
  return {
    file,
    store,
    unlock: () => holder.exec("ROLLBACK"),
    async [Symbol.asyncDispose]() {
      holder.exec("DETACH store");
      holder.close();
      await store.close();
      await directory[Symbol.asyncDispose]();
    },
  };
};

describe("a file that another process holds", () => {
  it("can be read, and is waited for by writes in the order in which they came", async () => {
    await using locked = await openLocked({});
    const { store } = locked;
    const base = await store.sessions.load("s");
    expect(plain(base)).toEqual({ messages: ["before"] });
    const order: string[] = [];
    const writes = ["a", "b", "c"].map(async (name) => {
      await store.sessions.save(whole(name, { name }));
      order.push(name);
    });
    const lease = store.leases.acquire("k", { ttlMs: 60_000 });
    let isSettled = false;
    const all = Promise.all([...writes, lease]).then(() => {
      isSettled = true;
    });
    expect(await store.sessions.list()).toHaveLength(1);
    // The thread is free meanwhile.
    await nextTurn();
    expect(isSettled).toBe(false);
    locked.unlock();
    // Free by now, but others were first.
    const last = store.sessions.save(whole("d", { name: "d" }));
    await all;
    await last;
    expect(order).toEqual(["a", "b", "c"]);
    expect((await store.sessions.list()).map((entry) => entry.session_id)).toEqual(["d", "c", "b", "a", "s"]);
    await (await lease).release();
  });

  it("is read as it is now also behind a write that gave up", async () => {
    await using locked = await openLocked({ limits: { busyTimeoutMs: 0 } });
    const { store, file } = locked;
    expect(await outcomeOf(store.sessions.save(whole("s", { note: "lost" })))).toEqual(failed("busy"));
    locked.unlock();
    const other = await openSqliteStore({ file });
    for (const note of ["one", "two", "three"]) {
      await other.sessions.save(whole("s", { note }));
      expect(plain(await store.sessions.load("s"))).toEqual({ note });
    }
    await other.close();
  });

  it("is waited for by who opens it, wherever the lock is in the way", async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, "store.db");
    const holder = new Database(file);
    await chmod(file, 0o600);
    holder.exec("BEGIN EXCLUSIVE");
    const opening = outcomeOf(openSqliteStore({ file, limits: { busyTimeoutMs: 0 } }));
    expect(await opening).toEqual(failed("busy"));
    const waiting = openSqliteStore({ file });
    await nextTurn();
    holder.exec("ROLLBACK");
    holder.close();
    const store = await waiting;
    expect(await store.sessions.list()).toEqual([]);
    await store.close();
  });

  it("is busy after busyTimeoutMs, and nothing was written", async () => {
    await using locked = await openLocked({ limits: { busyTimeoutMs: 30 } });
    const { store } = locked;
    const base = await store.sessions.load("s");
    const write = added(base as NonNullable<typeof base>, ["lost"]);
    const outcomes = await Promise.all([
      outcomeOf(store.sessions.save(write)),
      outcomeOf(store.sessions.delete("s")),
      outcomeOf(store.leases.acquire("k", { ttlMs: 1 })),
    ]);
    expect(outcomes).toEqual([failed("busy"), failed("busy"), failed("busy")]);
    locked.unlock();
    expect(plain(await store.sessions.load("s"))).toEqual({ messages: ["before"] });
    await store.sessions.save(write);
    expect(plain(await store.sessions.load("s"))).toEqual({ messages: ["before", "lost"] });
    await (await store.leases.acquire("k", { ttlMs: 1000 })).release();
  });

  it("has a bounded line of writes", async () => {
    await using locked = await openLocked({ limits: { maxQueuedWrites: 2 } });
    const saves = ["a", "b", "c"].map((name) => outcomeOf(locked.store.sessions.save(whole(name, { name }))));
    expect(await saves[2]).toEqual(failed("too_many_waiters", "store_full"));
    locked.unlock();
    expect(await Promise.all(saves.slice(0, 2))).toEqual([
      { value: { version: 2 } },
      { value: { version: 3 } },
    ]);
  });

  it("is not waited for any more by a store that is closed", async () => {
    await using locked = await openLocked({});
    const saves = ["a", "b"].map((name) => outcomeOf(locked.store.sessions.save(whole(name, { name }))));
    await locked.store.close();
    const closed = { name: "StoreError", code: "store_closed" };
    expect(await Promise.all(saves)).toEqual([closed, closed]);
    locked.unlock();
    const after = await openSqliteStore({ file: locked.file });
    expect((await after.sessions.list()).map((entry) => entry.session_id)).toEqual(["s"]);
    await after.close();
  });

  it("cannot be opened anew until it is free", async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, "store.db");
    await (await openSqliteStore({ file })).close();
    const holder = new Database(":memory:");
    holder.prepare("ATTACH ? AS store").run([file]);
    holder.exec("BEGIN EXCLUSIVE");
    expect(await outcomeOf(openSqliteStore({ file, limits: { busyTimeoutMs: 20 } }))).toEqual(failed("busy"));
    const opening = openSqliteStore({ file });
    holder.exec("COMMIT");
    holder.exec("DETACH store");
    holder.close();
    await (await opening).close();
  });
});

const taken = { name: "StoreError", code: "lease_taken" };
const openTwo = async () => {
  const directory = await temporaryDirectory();
  const clock = createManualClock();
  const open = () => openParts({ file: join(directory.path, "store.db"), clock });
  const [one, other] = [await open(), await open()];
  return {
    clock,
    one,
    other,
    async [Symbol.asyncDispose]() {
      await one.store.close();
      await other.store.close();
      await directory[Symbol.asyncDispose]();
    },
  };
};

describe("leases in a file", () => {
  it("are requested again after leasePollMs by callers in other processes, and no later than they end", async () => {
    await using both = await openTwo();
    const { clock, one, other } = both;
    const first = await one.store.leases.acquire("k", { ttlMs: 60_000 });
    let next: Awaited<ReturnType<typeof other.store.leases.acquire>> | undefined;
    const waiting = other.store.leases.acquire("k", { ttlMs: 60_000, waitMs: 30_000 }).then((lease) => {
      next = lease;
    });
    await nextTurn();
    await first.release();
    clock.advance(49);
    await nextTurn();
    expect(next).toBeUndefined();
    clock.advance(1);
    await waiting;
    expect(next?.fence).toBeGreaterThan(first.fence);

    // The end of a lease of 20 ms is not waited for any longer than that.
    await next?.release();
    await one.store.leases.acquire("short", { ttlMs: 20 });
    const later = other.store.leases.acquire("short", { ttlMs: 60_000, waitMs: 30_000 });
    await nextTurn();
    clock.advance(20);
    expect((await later).key).toBe("short");
    // Nobody waits any more.
    expect(clock.pending).toBe(0);
  });

  it("cost nothing to wait for while this process has them, and go on at once when they come back", async () => {
    await using both = await openTwo();
    const { clock, one } = both;
    const first = await one.store.leases.acquire("k", { ttlMs: 60_000 });
    const order: string[] = [];
    const waiting = ["a", "b"].map(async (name) => {
      const lease = await one.store.leases.acquire("k", { ttlMs: 60_000, waitMs: 60_000 });
      order.push(name);
      return lease;
    });
    await nextTurn();
    clock.advance(30_000);
    await nextTurn();
    expect(order).toEqual([]);
    await first.release();
    const second = await waiting[0];
    expect(order).toEqual(["a"]);
    await second?.release();
    await waiting[1];
    expect(order).toEqual(["a", "b"]);
  });

  it("are renewed for their time from then on, and are lost without", async () => {
    await using both = await openTwo();
    const { clock, one, other } = both;
    const lease = await one.store.leases.acquire("k", { ttlMs: 100 });
    clock.advance(60);
    await lease.renew();
    clock.advance(60);
    expect(await outcomeOf(other.store.leases.acquire("k", { ttlMs: 1 }))).toEqual(taken);
    await one.store.commit({ leases: [lease] });
    clock.advance(40);
    const lost = { name: "StoreError", code: "lease_lost" };
    expect(await outcomeOf(lease.renew())).toEqual(lost);
    expect(await outcomeOf(one.store.commit({ leases: [lease] }))).toEqual(lost);
    const next = await other.store.leases.acquire("k", { ttlMs: 100 });
    await lease.release();
    await next.renew();
    // Both have to be held.
    const second = await other.store.leases.acquire("k2", { ttlMs: 100 });
    await other.store.commit({ leases: [next, second] });
    await second.release();
    expect(await outcomeOf(other.store.commit({ leases: [next, second] }))).toEqual(lost);
  });

  it("are given back by close, which ends all waiting", async () => {
    await using both = await openTwo();
    const { one, other } = both;
    const lease = await one.store.leases.acquire("k", { ttlMs: 60_000 });
    const waiting = outcomeOf(one.store.leases.acquire("k", { ttlMs: 60_000, waitMs: 60_000 }));
    await nextTurn();
    await one.store.close();
    expect(await waiting).toEqual({ name: "StoreError", code: "store_closed" });
    await lease.release();
    expect(await outcomeOf(lease.renew())).toEqual({ name: "StoreError", code: "store_closed" });
    await (await other.store.leases.acquire("k", { ttlMs: 60_000 })).release();
  });

  it("leave nothing of those who died, once the file is opened again", async () => {
    await using directory = await temporaryDirectory();
    const clock = createManualClock();
    const open = () => openParts({ file: join(directory.path, "store.db"), clock });
    const first = await open();
    for (const key of ["a", "b"]) await first.store.leases.acquire(key, { ttlMs: 10 });
    await first.store.leases.acquire("c", { ttlMs: 1000 });
    // As one that was killed: its store was never closed.
    first.file.close(() => {});
    clock.advance(10);
    const second = await open();
    expect(second.file.all("SELECT key FROM leases")).toEqual([["c"]]);
    await second.store.close();
  });

  it("are refused for an invalid key or time", async () => {
    await using both = await openTwo();
    const { leases } = both.one.store;
    const invalid = { name: "InvalidArgumentError", code: "invalid_argument" };
    for (const [key, ttlMs, waitMs] of [
      ["", 1, 0],
      ["k", 0, 0],
      ["k", Number.NaN, 0],
      ["k", 1, -1],
      [undefined as unknown as string, 1, 0],
    ] as const) {
      expect(await outcomeOf(leases.acquire(key, { ttlMs, waitMs }))).toEqual(invalid);
    }
  });
});
