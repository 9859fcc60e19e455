import { readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../scripts/lib/test-kit.ts";
import type { AuditError } from "../src/index.ts";
import {
  type FileAuditSinkOptions,
  openFileAuditSink,
  readAuditFile,
  verifyAuditFile,
} from "../src/node/index.ts";
import { faultyDisk } from "./support/faulty-disk.ts";

const small = { maxEntryBytes: 4096, maxBlockBytes: 16_384, maxQueuedBytes: 32_768 };
const retryIntervalMs = 60_000;

const open = async (path: string, options: Partial<FileAuditSinkOptions> = {}) => {
  const disk = faultyDisk();
  const errors: AuditError[] = [];
  const sink = await openFileAuditSink({
    path,
    fileSystem: disk.fileSystem,
    onError: (error) => {
      errors.push(error);
      // Who is told may fail, at once or later.
      if (errors.length % 2 === 1) return Promise.reject(error);
      throw error;
    },
    retryIntervalMs,
    ...options,
    limits: { ...small, ...options.limits },
  });
  return { sink, disk, errors };
};

const entry = (index: number) => ({
  action: "tool.call",
  call_id: `c${index}`,
  details: { text: "x".repeat(100) },
});

const callsIn = async (path: string): Promise<(string | undefined)[]> => {
  const calls = [];
  for await (const { call_id } of readAuditFile(path, { action: "tool.call" })) calls.push(call_id);
  return calls;
};

describe("a full disk", () => {
  it("is told of, keeps what waits, and is left behind without a trace in the chain", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "audit.jsonl");
    const { sink, disk, errors } = await open(path);
    sink.record(entry(0));
    await sink.flush();
    disk.freeBytes = 100;
    sink.record(entry(1));
    await expect(sink.flush()).rejects.toMatchObject({
      name: "AuditError",
      code: "audit_write_failed",
      cause: { code: "ENOSPC" },
    });
    expect(errors).toMatchObject([{ code: "audit_write_failed" }]);
    // What was written of the block is taken back.
    expect((await readFile(path, "utf8")).endsWith('"}\n')).toBe(true);
    expect(await verifyAuditFile(path)).toMatchObject({ ok: true, entries: 2 });
    sink.record(entry(2));
    await expect(sink.flush()).rejects.toMatchObject({ code: "audit_write_failed" });
    disk.freeBytes = Number.POSITIVE_INFINITY;
    sink.record(entry(3));
    await sink.flush();
    await sink.close();
    expect(await callsIn(path)).toEqual(["c0", "c1", "c2", "c3"]);
    expect(sink.dropped).toBe(0);
    expect(await verifyAuditFile(path, { expectedHead: sink.head })).toMatchObject({
      ok: true,
      closed: true,
    });
  });

  it("drops and counts what is beyond the queue, and records how many", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "audit.jsonl");
    const { sink, disk, errors } = await open(path);
    disk.failures.set("write", "EIO");
    for (let index = 0; index < 1000; index++) sink.record(entry(index));
    const { dropped } = sink;
    expect(dropped).toBeGreaterThan(700);
    expect(errors.map(({ code }) => code)).toContain("audit_queue_full");
    expect(errors.filter(({ code }) => code === "audit_queue_full")).toHaveLength(1);
    await expect(sink.flush()).rejects.toMatchObject({ code: "audit_write_failed", cause: { code: "EIO" } });
    disk.failures.clear();
    await sink.flush();
    sink.record(entry(5000));
    await sink.close();
    const calls = await callsIn(path);
    expect(calls).toEqual([...Array.from({ length: 1000 - dropped }, (_, index) => `c${index}`), "c5000"]);
    const notes = [];
    for await (const { details } of readAuditFile(path, { action: "audit.dropped" })) notes.push(details);
    expect(notes).toEqual([{ entries: dropped, limit: "maxQueuedBytes", limit_bytes: 32_768 }]);
    expect(sink.dropped).toBe(dropped);
    expect(await verifyAuditFile(path, { expectedHead: sink.head })).toMatchObject({
      ok: true,
      closed: true,
    });
  });

  it("takes for what waits the memory that it needs, however often it is flushed", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "audit.jsonl");
    const megabyte = 1024 * 1024;
    const { sink, disk } = await open(path, {
      limits: { maxBlockBytes: megabyte, maxQueuedBytes: 2 * megabyte },
    });
    disk.failures.set("write", "EIO");
    const before = process.memoryUsage().arrayBuffers;
    for (let index = 0; index < 100; index++) {
      sink.record(entry(index));
      await expect(sink.flush()).rejects.toMatchObject({ code: "audit_write_failed" });
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * megabyte);
    disk.failures.clear();
    await sink.close();
    expect(await callsIn(path)).toHaveLength(100);
    expect(await verifyAuditFile(path)).toMatchObject({ ok: true, closed: true });
  });

  it("is tried again by itself", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "audit.jsonl");
    const { sink, disk, errors } = await open(path, { retryIntervalMs: 1 });
    disk.failures.set("write", "ENOSPC");
    sink.record(entry(1));
    await expect.poll(() => errors.length).toBeGreaterThan(2);
    const { seq } = sink.head;
    disk.failures.clear();
    await expect.poll(() => sink.head.seq).toBe(seq + 1);
    await sink.close();
  });

  it("makes close reject with the number of entries that were lost, and the next writer goes on", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "audit.jsonl");
    const { sink, disk, errors } = await open(path);
    disk.freeBytes = 50;
    // Not even what was written in part can be taken back.
    disk.failures.set("truncate", "EIO");
    sink.record(entry(1));
    sink.record(entry(2));
    await expect(sink.close()).rejects.toMatchObject({
      name: "AuditError",
      code: "audit_entries_lost",
      count: 3,
    });
    await expect(sink.close()).rejects.toMatchObject({ code: "audit_entries_lost" });
    expect(errors.at(-1)).toMatchObject({ code: "audit_entries_lost" });
    sink.record(entry(3));
    expect(sink.dropped).toBe(4);
    expect(await verifyAuditFile(path)).toMatchObject({ ok: false, problem: { kind: "truncated", line: 2 } });
    const next = await open(path);
    await next.sink.close();
    expect(await verifyAuditFile(path)).toMatchObject({ ok: true, closed: true });
    const resumed = [];
    for await (const { details } of readAuditFile(path, { action: "audit.resumed" })) resumed.push(details);
    expect(resumed).toEqual([{ was_closed: false, removed_bytes: 50, unsealed_entries: 0 }]);
  });

  it("refuses to begin a log that it cannot write", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "audit.jsonl");
    const disk = faultyDisk();
    disk.freeBytes = 20;
    const options = { path, fileSystem: disk.fileSystem, retryIntervalMs, limits: small };
    await expect(openFileAuditSink(options)).rejects.toMatchObject({ code: "audit_write_failed" });
    disk.freeBytes = Number.POSITIVE_INFINITY;
    const sink = await openFileAuditSink(options);
    await sink.close();
    expect(await verifyAuditFile(path)).toMatchObject({ ok: true, entries: 2 });
  });
});

describe("a disk that cannot rotate", () => {
  it.each(["rename", "open"] as const)("keeps the entries until it can: %s", async (call) => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "audit.jsonl");
    const { sink, disk } = await open(path, { limits: { maxFileBytes: 32_768, maxQueuedBytes: 65_536 } });
    disk.failures.set(call, "EACCES");
    for (let index = 0; index < 150; index++) sink.record(entry(index));
    await expect(sink.flush()).rejects.toMatchObject({
      code: "audit_write_failed",
      cause: { code: "EACCES" },
    });
    disk.failures.clear();
    await sink.close();
    expect(await callsIn(path)).toEqual(Array.from({ length: 150 }, (_, index) => `c${index}`));
    expect(await verifyAuditFile(path, { expectedHead: sink.head })).toMatchObject({
      ok: true,
      closed: true,
    });
  });
});

describe("a disk that cannot flush", () => {
  it("says so to the one who asked", async () => {
    await using directory = await temporaryDirectory();
    const { sink, disk, errors } = await open(join(directory.path, "audit.jsonl"));
    disk.failures.set("datasync", "EIO");
    sink.record(entry(1));
    await expect(sink.flush()).rejects.toMatchObject({ code: "audit_write_failed", cause: { code: "EIO" } });
    expect(errors).toHaveLength(1);
    disk.failures.clear();
    await sink.flush();
    await sink.close();
  });

  it.each([
    ["flush", 1],
    ["block", 3],
    ["never", 0],
  ] as const)("is asked as often as was wanted: %s", async (sync, times) => {
    await using directory = await temporaryDirectory();
    const { sink, disk } = await open(join(directory.path, "audit.jsonl"), { sync, flushIntervalMs: 0 });
    disk.calls.datasync = 0;
    for (let index = 0; index < 3; index++) {
      const { seq } = sink.head;
      sink.record(entry(index));
      await expect.poll(() => sink.head.seq).toBe(seq + 1);
    }
    await Promise.all([sink.flush(), sink.flush()]);
    expect(disk.calls.datasync).toBeGreaterThanOrEqual(times);
    expect(disk.calls.datasync).toBeLessThanOrEqual(sync === "flush" ? 2 : times);
    await sink.close();
  });
});

describe("any faults", () => {
  it("leave a chain that can be verified, with every entry that was flushed", async () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ records: fc.integer({ min: 1, max: 60 }) }) },
      { weight: 2, arbitrary: fc.record({ free: fc.nat(4000) }) },
      { weight: 2, arbitrary: fc.constant({ heal: true }) },
      {
        weight: 1,
        arbitrary: fc.record({ fail: fc.constantFrom("write", "truncate", "rename", "open" as const) }),
      },
      { weight: 3, arbitrary: fc.constant({ flush: true }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        await using directory = await temporaryDirectory();
        const path = join(directory.path, "audit.jsonl");
        const { sink, disk } = await open(path, {
          sync: "never",
          limits: { maxFileBytes: 32_768, maxFiles: 1000 },
        });
        let count = 0;
        let flushed = 0;
        for (const what of steps) {
          if ("records" in what)
            for (let index = 0; index < what.records; index++) sink.record(entry(count++));
          else if ("free" in what) disk.freeBytes = what.free;
          else if ("fail" in what) disk.failures.set(what.fail, "EIO");
          else if ("heal" in what) {
            disk.freeBytes = Number.POSITIVE_INFINITY;
            disk.failures.clear();
          } else {
            const before = count - sink.dropped;
            await sink.flush().then(
              () => {
                flushed = before;
              },
              () => {},
            );
          }
        }
        const { dropped } = sink;
        await sink.close().catch(() => {});
        disk.freeBytes = Number.POSITIVE_INFINITY;
        disk.failures.clear();
        const next = await openFileAuditSink({
          path,
          retryIntervalMs,
          limits: { ...small, maxFileBytes: 32_768, maxFiles: 1000 },
        });
        await next.close();
        expect(await verifyAuditFile(path, { expectedHead: next.head })).toMatchObject({
          ok: true,
          closed: true,
          start: { seq: 0 },
        });
        const calls = await callsIn(path);
        expect(calls.length).toBeGreaterThanOrEqual(flushed);
        expect(calls.length).toBeLessThanOrEqual(count - dropped);
        const numbers = calls.map((call) => Number(call?.slice(1)));
        expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
      }),
      { numRuns: 60 },
    );
  });
});
