import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { AuditEntrySchema } from "../src/entry.ts";
import { AuditError, type AuditHead, formatHead, parseHead } from "../src/index.ts";
import { openFileAuditSink, type VerifyOptions, verifyAuditFile } from "../src/node/index.ts";

/** A log of 12 lines, and its head behind each of them. */
let lines: string[];
let heads: AuditHead[];
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  directory = await temporaryDirectory();
  const path = join(directory.path, "log");
  const sink = await openFileAuditSink({ path, clock: () => 1_700_000_000_000 });
  heads = [sink.head];
  for (let index = 0; index < 10; index++) {
    sink.record({ action: "tool.call", call_id: `call_${index}`, details: { label: `naïve ${index}` } });
    heads.push(sink.head);
  }
  await sink.close();
  heads.push(sink.head);
  lines = (await readFile(path, "utf8")).split("\n").slice(0, -1);
  return () => directory[Symbol.asyncDispose]();
});

const toText = (changed: readonly string[]): string => changed.map((line) => `${line}\n`).join("");

let count = 0;
const verify = async (log: string | Uint8Array, options?: VerifyOptions) => {
  const path = join(directory.path, `changed_${count++}`);
  await writeFile(path, log);
  return verifyAuditFile(path, options);
};

const anyLine = fc.integer({ min: 0, max: 11 });

describe("an untouched log", () => {
  it("is intact, with its head and the number of its entries", async () => {
    expect(await verify(toText(lines), { expectedHead: heads.at(-1) })).toEqual({
      ok: true,
      entries: 12,
      start: { seq: 0, hash: "0".repeat(64) },
      head: heads.at(-1),
      closed: true,
    });
    for (const line of lines) expect(AuditEntrySchema.safeParse(JSON.parse(line)).success).toBe(true);
  });
});

describe("a file of a log that was emptied", () => {
  const emptied = { kind: "truncated", line: 1, message: expect.stringContaining("the file is empty") };

  it("is named, the current one and one that it was rotated to, also with an open end", async () => {
    expect(await verify("")).toMatchObject({ ok: false, problem: { ...emptied, seq: 1 } });
    expect(await verify("", { allowOpenEnd: true })).toMatchObject({ ok: false, problem: emptied });
    const path = join(directory.path, "rotated");
    await writeFile(`${path}.1`, toText(lines));
    await writeFile(path, "");
    expect(await verifyAuditFile(path)).toMatchObject({
      ok: false,
      problem: { ...emptied, file: path, seq: 13 },
    });
    await writeFile(`${path}.1`, "");
    await writeFile(path, toText(lines));
    expect(await verifyAuditFile(path)).toMatchObject({
      ok: false,
      problem: { ...emptied, file: `${path}.1` },
    });
  });

  it("is named by the sink that opens it, and in the log; a new file is not", async () => {
    const path = join(directory.path, "reopened");
    const errors: unknown[] = [];
    const open = () => openFileAuditSink({ path, onError: (error) => errors.push(error) });
    await (await open()).close();
    expect(errors).toEqual([]);
    await writeFile(path, "");
    await (await open()).close();
    expect(errors).toMatchObject([{ code: "audit_damaged", message: expect.stringContaining("was empty") }]);
    expect(errors[0]).toBeInstanceOf(AuditError);
    const entries = (await readFile(path, "utf8")).split("\n").slice(0, -1);
    expect(entries.map((entry) => JSON.parse(entry))).toMatchObject([
      { action: "audit.opened" },
      { action: "audit.resumed", details: { was_closed: false, was_empty: true } },
      { action: "audit.closed" },
    ]);
    expect(await verifyAuditFile(path)).toMatchObject({ ok: true });
  });
});

describe("a log that was changed", () => {
  it("names the line of any changed byte, or the one behind it", async () => {
    const bytes = new TextEncoder().encode(toText(lines));
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 2), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
        const changed = bytes.slice();
        changed[at] = (changed[at] ?? 0) ^ flip;
        const line = bytes.subarray(0, at).filter((byte) => byte === 0x0a).length + 1;
        const found = await verify(changed);
        expect(found.ok).toBe(false);
        expect(found.ok ? 0 : found.problem.line).toBe(line);
      }),
      { numRuns: runs(60) },
    );
  });

  it("names the place of removed lines", async () => {
    await fc.assert(
      fc.asyncProperty(anyLine, fc.integer({ min: 1, max: 4 }), async (at, many) => {
        const isEnd = at + many >= lines.length;
        const isStart = at === 0;
        const problem = { kind: isEnd ? "truncated" : "removed", line: isEnd && isStart ? 1 : at + 1 };
        const changed = [...lines.slice(0, at), ...lines.slice(at + many)];
        expect(await verify(toText(changed), { expectedHead: heads.at(-1) })).toMatchObject({
          ok: false,
          problem,
        });
      }),
      { numRuns: runs(20) },
    );
  });

  it("names a line that is there twice, and one of two that changed places", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(anyLine, { minLength: 2, maxLength: 2 }), async (pair) => {
        const [first = 0, second = 0] = [...pair].sort((a, b) => a - b);
        const twice = [...lines.slice(0, second), lines[first] ?? "", ...lines.slice(second)];
        expect(await verify(toText(twice))).toMatchObject({
          ok: false,
          problem: { kind: "inserted", line: second + 1 },
        });
        const changed = [...lines];
        changed[first] = lines[second] ?? "";
        changed[second] = lines[first] ?? "";
        expect(await verify(toText(changed))).toMatchObject({
          ok: false,
          problem: { kind: "removed", line: first + 1 },
        });
      }),
      { numRuns: runs(20) },
    );
  });

  it("names a foreign line, and one that is longer than any entry", async () => {
    for (const foreign of ["text", "{}", "", "x".repeat(3_000_000)]) {
      const changed = [...lines.slice(0, 5), foreign, ...lines.slice(5)];
      expect(await verify(toText(changed))).toMatchObject({
        ok: false,
        problem: { kind: "changed", line: 6 },
      });
    }
  });

  it("whose line got a hash that fits is found in the next line", async () => {
    const { hash } = await import("node:crypto");
    const body = (lines[4] ?? "").replace("call_3", "call_9").replace(/,"hash":"[0-9a-f]{64}"\}$/, "");
    const own = hash("sha256", `${heads[3]?.hash}${body}`, "hex");
    const changed = lines.map((line, index) => (index === 4 ? `${body},"hash":"${own}"}` : line));
    expect(await verify(toText(changed))).toMatchObject({ ok: false, problem: { kind: "changed", line: 6 } });
  });
});

describe("the end of a log", () => {
  it("in the middle of a line is found, and accepted on request", async () => {
    const cut = toText(lines).slice(0, -10);
    expect(await verify(cut)).toMatchObject({ ok: false, problem: { kind: "truncated", line: 12 } });
    expect(await verify(cut, { allowOpenEnd: true })).toMatchObject({ ok: true, entries: 11, closed: false });
  });

  it("that was cut off behind a line is found with the expected head only", async () => {
    const cut = toText(lines.slice(0, 8));
    expect(await verify(cut)).toMatchObject({ ok: true, closed: false });
    expect(await verify(cut, { expectedHead: heads.at(-1) })).toMatchObject({
      ok: false,
      problem: { kind: "truncated", line: 9 },
    });
  });

  it("may be behind the expected head, and not on another one", async () => {
    expect(await verify(toText(lines), { expectedHead: heads[4] })).toMatchObject({ ok: true });
    const expectedHead = { seq: 5, hash: "1".repeat(64) };
    expect(await verify(toText(lines), { expectedHead })).toMatchObject({
      ok: false,
      problem: { kind: "rewritten", line: 5, seq: 5 },
    });
  });
});

describe("a head as text", () => {
  it("is read as it was written", () => {
    const head = { seq: 12, hash: "a".repeat(64) };
    expect(parseHead(formatHead(head))).toEqual(head);
  });

  const hash = "a".repeat(64);
  it.each(["", "1", `x:${hash}`, `1:${hash}0`, `1:${hash.toUpperCase()}`, `-1:${hash}`])(
    "is refused: %s",
    (text) => {
      let thrown: unknown;
      onTestFinished(() => expect(AuditError.isInstance(thrown)).toBe(true));
      try {
        parseHead(text);
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toMatchObject({ code: "audit_invalid_head" });
    },
  );
});
