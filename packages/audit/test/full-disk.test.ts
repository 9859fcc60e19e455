import * as fs from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { journalFileSystem } from "@harnesskit/node-kit";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import type { AuditError } from "../src/index.ts";
import { openSink } from "../src/node/file-sink.ts";
import { type FileAuditLimits, readAuditFile, verifyAuditFile } from "../src/node/index.ts";

/** The real file system, with a disk that fails on demand. */
class FaultyDisk {
  /** Bytes that still fit; a write that is larger is done in part and then fails. */
  freeBytes = Number.POSITIVE_INFINITY;
  readonly failures = new Set<"write" | "truncate" | "flush" | "rename">();

  #demand(call: "write" | "truncate" | "flush" | "rename"): void {
    if (this.failures.has(call)) throw Object.assign(new RangeError(call), { code: "EIO" });
  }

  readonly fileSystem = {
    ...journalFileSystem,
    writeSync: (file: number, bytes: Buffer, offset: number, length: number): number => {
      this.#demand("write");
      if (this.freeBytes <= 0) throw Object.assign(new RangeError("full"), { code: "ENOSPC" });
      const written = fs.writeSync(file, bytes, offset, Math.min(length, this.freeBytes));
      this.freeBytes -= written;
      return written;
    },
    ftruncateSync: (file: number, size: number): void => {
      this.#demand("truncate");
      fs.ftruncateSync(file, size);
    },
    renameSync: (from: string, to: string): void => {
      this.#demand("rename");
      fs.renameSync(from, to);
    },
    flush: async (file: number): Promise<void> => {
      this.#demand("flush");
      await journalFileSystem.flush(file);
    },
  } as typeof journalFileSystem;

  heal(): void {
    this.freeBytes = Number.POSITIVE_INFINITY;
    this.failures.clear();
  }
}

const small = { maxEntryBytes: 4096, maxQueuedBytes: 32_768 };

const open = async (path: string, limits: Partial<FileAuditLimits> = {}) => {
  const disk = new FaultyDisk();
  const errors: AuditError[] = [];
  const onError = (error: AuditError) => {
    errors.push(error);
    throw error;
  };
  const sink = await openSink({ path, onError, limits: { ...small, ...limits } }, disk.fileSystem);
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
  let path: string;
  beforeEach(async () => {
    const directory = await temporaryDirectory();
    path = join(directory.path, "audit.jsonl");
    return () => directory[Symbol.asyncDispose]();
  });

  it("is reported once, keeps what waits, and leaves no trace in the chain", async () => {
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
    // What was written of the entry is taken back.
    expect((await readFile(path, "utf8")).endsWith('"}\n')).toBe(true);
    sink.record(entry(2));
    await expect(sink.flush()).rejects.toMatchObject({ code: "audit_write_failed" });
    expect(errors).toMatchObject([{ code: "audit_write_failed" }]);
    disk.heal();
    sink.record(entry(3));
    await sink.close();
    expect(await callsIn(path)).toEqual(["c0", "c1", "c2", "c3"]);
    expect(sink.dropped).toBe(0);
    const verified = await verifyAuditFile(path, { expectedHead: sink.head });
    expect(verified).toMatchObject({ ok: true, closed: true });
  });

  it("makes the log full, which its callers can see; what comes then is dropped, counted and recorded later", async () => {
    const { sink, disk, errors } = await open(path);
    disk.failures.add("write");
    let kept = 0;
    while (!sink.isFull) sink.record(entry(kept++));
    for (let index = 0; index < 100; index++) sink.record(entry(1000 + index));
    expect(sink.dropped).toBe(100);
    expect(errors.filter(({ code }) => code === "audit_queue_full")).toHaveLength(1);
    await expect(sink.flush()).rejects.toMatchObject({ code: "audit_write_failed", cause: { code: "EIO" } });
    disk.heal();
    await sink.flush();
    expect(sink.isFull).toBe(false);
    sink.record(entry(5000));
    await sink.close();
    expect(await callsIn(path)).toEqual([
      ...Array.from({ length: kept }, (_, index) => `c${index}`),
      "c5000",
    ]);
    const notes = [];
    for await (const { details } of readAuditFile(path, { action: "audit.dropped" })) notes.push(details);
    expect(notes).toEqual([{ entries: 100, limit: "maxQueuedBytes" }]);
    expect(await verifyAuditFile(path)).toMatchObject({ ok: true, closed: true });
  });

  it("makes close reject with the number of entries that were lost, and the next writer goes on", async () => {
    const { sink, disk } = await open(path);
    disk.freeBytes = 50;
    // Not even what was written in part can be taken back.
    disk.failures.add("truncate");
    sink.record(entry(1));
    sink.record(entry(2));
    const lost = { name: "AuditError", code: "audit_entries_lost", count: 3 };
    await expect(sink.close()).rejects.toMatchObject(lost);
    await expect(sink.close()).rejects.toMatchObject(lost);
    sink.record(entry(3));
    expect(sink.dropped).toBe(4);
    expect(await verifyAuditFile(path)).toMatchObject({ ok: false, problem: { kind: "truncated", line: 2 } });
    const next = await open(path);
    await next.sink.close();
    expect(await verifyAuditFile(path)).toMatchObject({ ok: true, closed: true });
    const resumed = [];
    for await (const { details } of readAuditFile(path, { action: "audit.resumed" })) resumed.push(details);
    expect(resumed).toEqual([{ was_closed: false, removed_bytes: 50 }]);
  });

  it("refuses to begin a log that it cannot write, or not flush", async () => {
    for (const call of ["write", "flush"] as const) {
      const disk = new FaultyDisk();
      disk.failures.add(call);
      await expect(openSink({ path }, disk.fileSystem)).rejects.toMatchObject({
        name: "AuditError",
        code: "audit_write_failed",
      });
    }
    await (await open(path)).sink.close();
    expect(await verifyAuditFile(path)).toMatchObject({ ok: true });
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
        arbitrary: fc.record({ fail: fc.constantFrom("write", "truncate", "rename", "flush" as const) }),
      },
      { weight: 3, arbitrary: fc.constant({ flush: true }) },
    );
    const limits = { maxFileBytes: 16_384, maxFiles: 1000 };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        await using directory = await temporaryDirectory();
        const path = join(directory.path, "audit.jsonl");
        const { sink, disk } = await open(path, limits);
        let count = 0;
        let flushed = 0;
        for (const what of steps) {
          if ("records" in what)
            for (let index = 0; index < what.records; index++) sink.record(entry(count++));
          else if ("free" in what) disk.freeBytes = what.free;
          else if ("fail" in what) disk.failures.add(what.fail);
          else if ("heal" in what) disk.heal();
          else {
            const before = count - sink.dropped;
            const isFlushed = await sink.flush().then(
              () => true,
              () => false,
            );
            if (isFlushed) flushed = before;
          }
        }
        const { dropped } = sink;
        await sink.close().catch(() => {});
        const next = await open(path, limits);
        await next.sink.close();
        const verified = await verifyAuditFile(path, { expectedHead: next.sink.head });
        expect(verified).toMatchObject({ ok: true, closed: true, start: { seq: 0 } });
        const calls = await callsIn(path);
        expect(calls.length).toBeGreaterThanOrEqual(flushed);
        expect(calls.length).toBeLessThanOrEqual(count - dropped);
        const numbers = calls.map((call) => Number(call?.slice(1)));
        expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
      }),
      { numRuns: runs(20) },
    );
  });
});
