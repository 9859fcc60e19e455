import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AuditEntrySchema, AuditError, formatHead, parseHead, verifyLines } from "../src/index.ts";
import { checkOf } from "../src/line-check.ts";
import { buildLog, toText } from "./support/build-log.ts";

const { lines, head } = buildLog([1, 5, 1, 1, 8, 3]);
const count = lines.length;
const bytes = new TextEncoder().encode(toText(lines));
const verify = (changed: readonly string[], expectedHead = head) =>
  verifyLines([toText(changed)], { expectedHead });

const lineOfByte = (at: number): number => bytes.subarray(0, at).filter((byte) => byte === 0x0a).length + 1;
const anyLine = fc.integer({ min: 0, max: count - 1 });

/** Gives a changed line the checksum that belongs to it, as somebody with intent would. */
const withCheck = (line: string): string => {
  const body = line.slice(0, -20);
  const encoded = new TextEncoder().encode(body);
  const check = checkOf(new DataView(encoded.buffer), 0, encoded.length) >>> 0;
  return `${body},"check":"${check.toString(16).padStart(8, "0")}"}`;
};

describe("an untouched log", () => {
  it("is intact, with its head and the number of its entries", async () => {
    const start = { seq: 0, hash: "0".repeat(64) };
    expect(await verify(lines)).toEqual({
      ok: true,
      entries: count,
      start,
      head,
      closed: false,
      unsealed: 0,
    });
  });

  it("is intact however it is cut into chunks", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 30 }),
        async (sizes) => {
          const chunks: Uint8Array[] = [];
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const size = sizes[turn % sizes.length] ?? 1;
            chunks.push(bytes.slice(at, at + size));
            at += size;
          }
          expect(await verifyLines(chunks, { expectedHead: head })).toMatchObject({
            ok: true,
            entries: count,
          });
        },
      ),
      { numRuns: 25 },
    );
  });

  it("holds entries that the schema accepts", () => {
    for (const line of lines) expect(AuditEntrySchema.safeParse(JSON.parse(line)).success).toBe(true);
  });

  it("is verified with any SHA-256, and fails with another hash", async () => {
    const sha256 = (data: Uint8Array) => createHash("sha256").update(data).digest();
    expect(await verifyLines([bytes], { sha256 })).toMatchObject({ ok: true });
    const sha512 = (data: Uint8Array) => createHash("sha512-256").update(data).digest();
    expect(await verifyLines([bytes], { sha256: sha512 })).toMatchObject({
      ok: false,
      problem: { kind: "rewritten", line: 1, lastLine: 2 },
    });
  });

  it("is empty where there is nothing", async () => {
    expect(await verifyLines([])).toMatchObject({ ok: true, entries: 0, head: { seq: 0 } });
    expect(await verifyLines([], { expectedHead: head })).toMatchObject({
      ok: false,
      problem: { kind: "truncated", line: 1 },
    });
  });
});

describe("a log that was changed", () => {
  it("names the line of any changed byte", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: bytes.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (at, flip) => {
          const changed = bytes.slice();
          changed[at] = (changed[at] ?? 0) ^ flip;
          const isLastNewline = at === bytes.length - 1;
          expect(await verifyLines([changed])).toMatchObject({
            ok: false,
            problem: { kind: isLastNewline ? "truncated" : "changed", line: lineOfByte(at) },
          });
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("names the first line of which a byte is gone or new", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: bytes.length - 2 }),
        fc.boolean(),
        fc.integer({ min: 32, max: 126 }),
        async (at, isGone, byte) => {
          const middle = isGone ? [] : [byte, bytes[at] ?? 0];
          const changed = new Uint8Array([...bytes.slice(0, at), ...middle, ...bytes.slice(at + 1)]);
          expect(await verifyLines([changed])).toMatchObject({
            ok: false,
            problem: { kind: "changed", line: lineOfByte(at) },
          });
        },
      ),
      { numRuns: 300 },
    );
  });

  it("names the place of removed lines", async () => {
    await fc.assert(
      fc.asyncProperty(anyLine, fc.integer({ min: 1, max: 4 }), async (at, many) => {
        const changed = [...lines.slice(0, at), ...lines.slice(at + many)];
        const isEnd = at + many >= count;
        expect(await verify(changed)).toMatchObject({
          ok: false,
          problem: { kind: isEnd ? "truncated" : "removed", line: at + 1 },
        });
      }),
      { numRuns: 200 },
    );
  });

  it("names a line that is there twice, wherever the second is", async () => {
    await fc.assert(
      fc.asyncProperty(anyLine, fc.nat(count), async (from, offset) => {
        const to = Math.min(count, from + 1 + offset);
        const changed = [...lines.slice(0, to), lines[from] ?? "", ...lines.slice(to)];
        expect(await verify(changed)).toMatchObject({
          ok: false,
          problem: { kind: "inserted", line: to + 1 },
        });
      }),
      { numRuns: 200 },
    );
  });

  it("names the first of two lines that changed places", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(anyLine, { minLength: 2, maxLength: 2 }), async (pair) => {
        const [first = 0, second = 0] = [...pair].sort((a, b) => a - b);
        const changed = [...lines];
        changed[first] = lines[second] ?? "";
        changed[second] = lines[first] ?? "";
        expect(await verify(changed)).toMatchObject({
          ok: false,
          problem: { kind: "reordered", line: first + 1 },
        });
      }),
      { numRuns: 200 },
    );
  });

  it("names a foreign line", async () => {
    await fc.assert(
      fc.asyncProperty(anyLine, fc.string(), async (at, text) => {
        const foreign = text.replaceAll("\n", " ");
        const changed = [...lines.slice(0, at), foreign, ...lines.slice(at)];
        expect(await verify(changed)).toMatchObject({
          ok: false,
          problem: { kind: "inserted", line: at + 1 },
        });
      }),
      { numRuns: 100 },
    );
  });

  it("names the block of a line that was changed together with its checksum", async () => {
    const changed = lines.map((line, index) =>
      index === 4 ? withCheck(line.replace("call_5", "call_9")) : line,
    );
    expect(changed[4]).not.toBe(lines[4]);
    expect(await verify(changed)).toMatchObject({
      ok: false,
      problem: { kind: "rewritten", line: 3, lastLine: 7, seq: 3 },
    });
  });

  it("says that lines without any seal are not sealed", async () => {
    const options = { maxBlockBytes: 500 };
    expect(await verifyLines([toText(lines)], options)).toMatchObject({
      ok: false,
      problem: { kind: "rewritten", line: 3 },
    });
  });

  it("holds no more of an endless line than it may", async () => {
    const endless = [new Uint8Array(1000).fill(0x7b), new Uint8Array(5000).fill(0x7b)];
    expect(await verifyLines(endless, { maxLineBytes: 2000 })).toMatchObject({
      ok: false,
      problem: { kind: "truncated", line: 1 },
    });
  });
});

describe("the end of a log", () => {
  it("is found cut off between two seals, and accepted open on request", async () => {
    const cut = lines.slice(0, -1);
    const text = toText(cut);
    expect(await verifyLines([text])).toMatchObject({
      ok: false,
      problem: { kind: "truncated", line: count - 2 },
    });
    expect(await verifyLines([text, '{"seq":'], { allowOpenEnd: true })).toMatchObject({
      ok: true,
      entries: count - 1,
      unsealed: 2,
    });
  });

  it("is found cut off at a seal with the expected head only", async () => {
    const sealed = buildLog([1, 5, 1]);
    const cut = lines.slice(0, sealed.lines.length);
    expect(cut).toEqual(sealed.lines);
    expect(await verifyLines([toText(cut)])).toMatchObject({ ok: true });
    expect(await verify(cut)).toMatchObject({
      ok: false,
      problem: { kind: "truncated", line: cut.length + 1 },
    });
  });

  it("may have grown behind the expected head", async () => {
    const earlier = buildLog([1, 5, 1]).head;
    expect(await verify(lines, earlier)).toMatchObject({ ok: true, head });
  });

  it("is found rewritten as a whole with the expected head only", async () => {
    const other = buildLog([2, 4, 1, 1, 8, 3]);
    expect(await verifyLines([toText(other.lines)])).toMatchObject({ ok: true });
    expect(await verify(other.lines)).toMatchObject({
      ok: false,
      problem: { kind: "rewritten", line: count, seq: head.seq },
    });
  });
});

describe("a head as text", () => {
  it("is read as it was written", () => {
    expect(parseHead(formatHead(head))).toEqual(head);
  });

  it.each(["", "1", `x:${head.hash}`, `1:${head.hash}0`, `1:${head.hash.toUpperCase()}`, `-1:${head.hash}`])(
    "is refused: %s",
    (text) => {
      expect(() => parseHead(text)).toThrowError(
        expect.objectContaining({ name: "AuditError", code: "audit_invalid_head" }),
      );
      try {
        parseHead(text);
      } catch (error) {
        expect(AuditError.isInstance(error)).toBe(true);
      }
    },
  );
});
