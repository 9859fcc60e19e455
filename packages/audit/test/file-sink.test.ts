import { execFile } from "node:child_process";
import {
  appendFile,
  link,
  mkdir,
  readdir,
  readFile,
  stat,
  symlink,
  truncate,
  unlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, describe, expect, it } from "vitest";
import { rejection, temporaryDirectory } from "../../../test-kit/test-kit.ts";
import type { AuditEntry } from "../src/index.ts";
import { type AuditFilter, openFileAuditSink, readAuditFile, verifyAuditFile } from "../src/node/index.ts";

const run = promisify(execFile);

const small = { maxEntryBytes: 4096, maxFileBytes: 32_768 };

const readAll = async (path: string, filter?: AuditFilter): Promise<AuditEntry[]> => {
  const entries = [];
  for await (const entry of readAuditFile(path, filter)) entries.push(entry);
  return entries;
};

const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

/** A directory of each test's own, and a path in it. */
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let path: string;
beforeEach(async () => {
  directory = await temporaryDirectory();
  path = join(directory.path, "a");
  return () => directory[Symbol.asyncDispose]();
});

describe("a log in a file", () => {
  it("holds what was recorded, for nobody else's eyes", async () => {
    const path = join(directory.path, "new", "audit", "log.jsonl");
    const sink = await openFileAuditSink({ path, clock: () => 1_700_000_000_000 });
    sink.addSecret("swordfish-17");
    sink.record({
      action: "tool.call",
      outcome: "ok",
      actor: { type: "agent", id: "a1" },
      agent_id: "a1",
      tool_id: "a1/read",
      call_id: "c1",
      session_id: "s1",
      request_id: "r1",
      correlation_id: "k1",
      causation_id: "k0",
      duration_ms: 1.5,
      details: { note: "with swordfish-17", size_bytes: 3, done: true, rest: null },
    });
    await sink.flush();
    const text = await readFile(path, "utf8");
    expect(text).not.toContain("swordfish");
    expect(text.split("\n")[1]).toMatch(
      /^\{"seq":2,"time":"2023-11-14T22:13:20\.000Z","action":"tool\.call","outcome":"ok","actor":\{"type":"agent","id":"a1"\},"agent_id":"a1","tool_id":"a1\/read","call_id":"c1","session_id":"s1","request_id":"r1","correlation_id":"k1","causation_id":"k0","duration_ms":1\.5,"details":\{"note":"with \[redacted\]","size_bytes":3,"done":true,"rest":null\},"marks":\["redacted"\],"hash":"[0-9a-f]{64}"\}$/,
    );
    await sink.close();
    expect(await mode(path)).toBe("600");
    expect(await mode(join(directory.path, "new", "audit"))).toBe("700");
    expect(await readdir(join(directory.path, "new", "audit"))).toEqual(["log.jsonl"]);
    expect((await readAll(path)).map(({ seq, action }) => `${seq} ${action}`)).toEqual([
      "1 audit.opened",
      "2 tool.call",
      "3 audit.closed",
    ]);
  });

  it("is shown safely by whatever prints it", async () => {
    const sink = await openFileAuditSink({ path });
    const hostile = "a\u001b[2J\u0007\u009b\u202e\u2028\r\nb\u{e0041}\ud800";
    sink.record({ action: "a.b", details: { text: hostile } });
    await sink.close();
    const text = await readFile(path, "utf8");
    expect(text).not.toMatch(/[^\n\x20-\x7e]/);
    expect((await readAll(path, { action: "a.b" }))[0]?.details?.text).toBe(hostile);
  });

  it("is written by itself after a while", async () => {
    const sink = await openFileAuditSink({ path });
    sink.record({ action: "a.b" });
    await expect.poll(() => readFile(path, "utf8")).toContain('"a.b"');
    await sink.close();
  });

  it("ends with close, once, and counts what comes later", async () => {
    const sink = await openFileAuditSink({ path });
    await Promise.all([sink.close(), sink.close()]);
    sink.record({ action: "a.b" });
    await sink.flush();
    await sink.close();
    expect(sink.dropped).toBe(1);
    expect(await verifyAuditFile(path)).toMatchObject({ ok: true, closed: true, entries: 2 });
  });
});

describe("a log that is there", () => {
  it("is continued", async () => {
    for (let round = 0; round < 3; round++) {
      const sink = await openFileAuditSink({ path });
      sink.record({ action: "a.b" });
      await sink.close();
    }
    expect(await verifyAuditFile(path)).toMatchObject({
      ok: true,
      closed: true,
      entries: 9,
      start: { seq: 0 },
    });
    const resumed = await readAll(path, { action: "audit.resumed" });
    expect(resumed.map(({ details }) => details)).toEqual([
      { was_closed: true, removed_bytes: 0 },
      { was_closed: true, removed_bytes: 0 },
    ]);
  });

  it("is repaired wherever its end is torn, and never loses a whole line", async () => {
    const sink = await openFileAuditSink({ path });
    for (let index = 0; index < 3; index++) sink.record({ action: "a.b", call_id: `c${index}` });
    await sink.close();
    const whole = await readFile(path);
    for (let size = 0; size < whole.length; size += 19) {
      await writeFile(path, whole.subarray(0, size), { mode: 0o600 });
      const next = await openFileAuditSink({ path });
      await next.close();
      expect(await verifyAuditFile(path, { expectedHead: next.head }), `cut at ${size}`).toMatchObject({
        ok: true,
        closed: true,
      });
      const kept = whole.subarray(0, size).toString("utf8").split("\n").length - 1;
      const entries = await readAll(path);
      const resumed = entries.find(({ action }) => action === "audit.resumed");
      expect(entries.filter(({ action }) => action !== "audit.resumed")).toHaveLength(Math.max(kept, 1) + 1);
      expect(resumed?.details?.was_empty).toBe(size === 0 ? true : undefined);
      const torn = size === 0 ? 0 : size - (whole.lastIndexOf(0x0a, size - 1) + 1);
      expect(resumed?.details?.removed_bytes).toBe(torn);
    }
  });

  it("is refused where its end is not one that a writer left", async () => {
    for (const notes of ["some notes\nof mine\n", "some notes\nof mine"]) {
      await writeFile(path, notes, { mode: 0o600 });
      expect(await rejection(openFileAuditSink({ path }))).toMatchObject({ code: "audit_damaged" });
      expect(await readFile(path, "utf8")).toBe(notes);
    }
    // The lock is free again.
    await unlink(path);
    await (await openFileAuditSink({ path })).close();
  });

  it("keeps the evidence of a change before its last line", async () => {
    const sink = await openFileAuditSink({ path });
    sink.record({ action: "a.b", call_id: "c1" });
    await sink.close();
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replace('"c1"', '"c2"'));
    await (await openFileAuditSink({ path })).close();
    expect(await verifyAuditFile(path)).toMatchObject({
      ok: false,
      problem: { kind: "changed", line: 2, file: path },
    });
  });
});

describe("rotation", () => {
  const fill = async (path: string, count: number, options = {}) => {
    const sink = await openFileAuditSink({ path, limits: { ...small, ...options } });
    for (let index = 0; index < count; index++) {
      sink.record({ action: "a.b", call_id: `c${index}`, details: { text: "y".repeat(100) } });
      if (index % 50 === 49) await sink.flush();
    }
    await sink.close();
    return sink;
  };

  it("gives full files numbers, and the chain goes on over them", async () => {
    const sink = await fill(path, 1000);
    const names = (await readdir(directory.path)).sort();
    expect(names.length).toBeGreaterThan(5);
    expect(names).toEqual(
      ["a", ...Array.from({ length: names.length - 1 }, (_, index) => `a.${index + 1}`)].sort(),
    );
    for (const name of names) {
      const { size } = await stat(join(directory.path, name));
      expect(size).toBeLessThanOrEqual(small.maxFileBytes);
      expect(await mode(join(directory.path, name))).toBe("600");
    }
    expect(await verifyAuditFile(path, { expectedHead: sink.head })).toMatchObject({
      ok: true,
      closed: true,
      start: { seq: 0 },
      head: sink.head,
    });
    const calls = await readAll(path, { action: "a.b" });
    expect(calls.map(({ call_id }) => call_id)).toEqual(
      Array.from({ length: 1000 }, (_, index) => `c${index}`),
    );
    const opened = await readAll(path, { action: "audit.opened" });
    expect(opened.map(({ details }) => details?.file)).toEqual(names.map((_, index) => index + 1));
  });

  it("finds a missing, an exchanged and a shortened file", async () => {
    const sink = await fill(path, 1000);
    const at = (number: number) => `${path}.${number}`;
    const second = await readFile(at(2));
    const third = await readFile(at(3));
    await unlink(at(2));
    expect(await verifyAuditFile(path)).toMatchObject({
      ok: false,
      problem: { kind: "removed", line: 1, file: at(3) },
    });
    await writeFile(at(2), third);
    await writeFile(at(3), second);
    expect(await verifyAuditFile(path)).toMatchObject({ ok: false, problem: { line: 1, file: at(2) } });
    await writeFile(at(2), second);
    await writeFile(at(3), third);
    expect(await verifyAuditFile(path)).toMatchObject({ ok: true });
    await truncate(at(3), third.lastIndexOf(0x0a, third.length - 2) + 1);
    expect(await verifyAuditFile(path)).toMatchObject({ ok: false, problem: { kind: "removed", line: 1 } });
    await writeFile(at(3), third);
    await unlink(path);
    expect(await verifyAuditFile(path)).toMatchObject({ ok: true, closed: false });
    expect(await verifyAuditFile(path, { expectedHead: sink.head })).toMatchObject({
      ok: false,
      problem: { kind: "truncated" },
    });
  });

  it("keeps so many files, and the rest can be verified from where it begins", async () => {
    const early = (await fill(path, 10, { maxFiles: 3 })).head;
    const { head } = await fill(path, 1000, { maxFiles: 3 });
    expect(await readdir(directory.path)).toHaveLength(3);
    const result = await verifyAuditFile(path, { expectedHead: head });
    expect(result).toMatchObject({ ok: true, closed: true, head });
    expect(result.ok && result.start.seq).toBeGreaterThan(500);
    expect(await verifyAuditFile(path, { expectedHead: early })).toMatchObject({
      ok: false,
      problem: { kind: "removed", seq: early.seq },
    });
  });

  it("goes on where the last writer died between two files", async () => {
    await fill(path, 200);
    const count = (await readdir(directory.path)).length;
    await link(path, `${path}.${count}`);
    await unlink(path);
    const sink = await openFileAuditSink({ path, limits: small });
    sink.record({ action: "a.b" });
    await sink.close();
    expect(await verifyAuditFile(path, { expectedHead: sink.head })).toMatchObject({
      ok: true,
      start: { seq: 0 },
    });
    expect((await readAll(path, { action: "audit.opened" })).map(({ details }) => details?.file)).toEqual(
      Array.from({ length: count + 1 }, (_, index) => index + 1),
    );
  });
});

describe("a path that is not safe", () => {
  it("is refused: a link, a directory, a second name", async () => {
    const target = join(directory.path, "target");
    await writeFile(target, "", { mode: 0o600 });
    await symlink(target, join(directory.path, "link"));
    await link(target, join(directory.path, "second"));
    await mkdir(join(directory.path, "folder"));
    await run("mkfifo", [join(directory.path, "fifo")]);
    await run("mkfifo", [join(directory.path, "rotated.1")]);
    for (const name of ["link", "second", "folder", "fifo", "rotated"]) {
      expect(await rejection(openFileAuditSink({ path: join(directory.path, name) }))).toMatchObject({
        code: "audit_insecure_path",
      });
    }
    expect(await readFile(target, "utf8")).toBe("");
  });
});

describe("two writers", () => {
  it("are one too many, also in one process", async () => {
    const first = await openFileAuditSink({ path });
    expect(await rejection(openFileAuditSink({ path }))).toMatchObject({ code: "audit_locked" });
    await first.close();
    await (await openFileAuditSink({ path })).close();
  });
});

describe("reading", () => {
  it("filters by action, ids and place", async () => {
    const sink = await openFileAuditSink({ path });
    for (let index = 0; index < 10; index++) {
      const parity = index % 2 === 0 ? "even" : "odd";
      sink.record({
        action: index < 5 ? "tool.call" : "tool.result",
        agent_id: `a-${parity}`,
        call_id: `c${index}`,
        correlation_id: `k-${parity}`,
      });
    }
    await sink.close();
    const seqs = async (filter: AuditFilter) => (await readAll(path, filter)).map(({ seq }) => seq);
    expect(await seqs({ action: "tool.*", agent_id: "a-odd" })).toEqual([3, 5, 7, 9, 11]);
    expect(await seqs({ action: "tool" })).toEqual([]);
    expect(await seqs({ action: "tool.result", correlation_id: "k-even" })).toEqual([8, 10]);
    expect(await seqs({ call_id: "c3" })).toEqual([5]);
    expect(await seqs({ afterSeq: 10 })).toEqual([11, 12]);
    expect(await seqs({ limit: 2 })).toEqual([1, 2]);
    expect(await seqs({ limit: 0 })).toEqual([]);
  });

  it("goes on while the log is written and rotated", async () => {
    const sink = await openFileAuditSink({ path, limits: { ...small, maxFiles: 100 } });
    const record = async () => {
      for (let index = 0; index < 100; index++)
        sink.record({ action: "a.b", details: { text: "y".repeat(100) } });
      await sink.flush();
    };
    for (let round = 0; round < 5; round++) await record();
    let last = 0;
    for await (const { seq } of readAuditFile(path)) {
      expect(seq).toBe(++last);
      if (seq % 100 === 0 && seq < 500) await record();
    }
    expect(last).toBeGreaterThanOrEqual(500);
    expect(await verifyAuditFile(path, { allowOpenEnd: true })).toMatchObject({ ok: true, closed: false });
    await sink.close();
  });

  it("says which line is no entry, or leaves it out on request", async () => {
    const sink = await openFileAuditSink({ path });
    await sink.close();
    await appendFile(
      path,
      'not json\n{"seq":"x"}\n{"seq":4,"time":"2023-11-14T22:13:20.000Z","action":"a.b"}\n{"seq":5',
    );
    expect(await rejection(readAll(path))).toMatchObject({ code: "audit_invalid_line" });
    const invalid: number[] = [];
    const entries = await readAll(path, { onInvalidLine: (_, line) => invalid.push(line) });
    expect(invalid).toEqual([3, 4]);
    expect(entries.map(({ seq }) => seq)).toEqual([1, 2, 4]);
  });

  it("says that there is no log", async () => {
    for (const missing of [path, join(directory.path, "none", "a")]) {
      expect(await rejection(readAll(missing))).toMatchObject({ code: "audit_read_failed" });
      expect(await rejection(verifyAuditFile(missing))).toMatchObject({ code: "audit_read_failed" });
    }
  });
});

describe("options", () => {
  it.each([
    [{ limits: { maxFileBytes: 1000 } }, "limits.maxFileBytes"],
    [{ limits: { maxFiles: 1 } }, "limits.maxFiles"],
    [{ limits: { maxQueuedBytes: 5 } }, "limits.maxQueuedBytes"],
    [{ limits: { maxEntryBytes: Number.NaN } }, "limits.maxEntryBytes"],
  ])("are refused where they make no sense: %j", async (options, name) => {
    const error = await rejection(openFileAuditSink({ path: "/nowhere/at/all", ...options }));
    expect(error.code).toBe("invalid_argument");
    expect(error.message).toContain(name);
  });
});
