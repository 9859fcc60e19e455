import { JsonError } from "@harnesskit/wire/json";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../../scripts/lib/nightly.ts";
import { clip } from "../../src/supervise/clip.ts";
import { judgedCopy } from "../../src/supervise/judged-copy.ts";

describe("the copy of what is judged", () => {
  it("is equal to any JSON, shares nothing with it, and has the same JSON", () => {
    const value = fc.jsonValue({ maxDepth: 6 }).filter((each) => !JSON.stringify(each).includes("__proto__"));
    fc.assert(
      fc.property(value, (given) => {
        const copy = judgedCopy(given);
        expect(copy).toEqual(given);
        expect(JSON.stringify(copy)).toBe(JSON.stringify(given));
        if (typeof given === "object" && given !== null) expect(copy).not.toBe(given);
      }),
    );
  });

  it("throws a JsonError for anything whose JSON would say less", () => {
    const holder = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withNullPrototype: true,
      withSparseArray: true,
    });
    fc.assert(
      fc.property(holder, (given) => {
        let copy: unknown;
        try {
          copy = judgedCopy(given);
        } catch (error) {
          expect(JsonError.isInstance(error)).toBe(true);
          return;
        }
        // What JSON brings back is what would run, but for times and fields that are not there.
        const restored: unknown = JSON.parse(JSON.stringify(copy) ?? "null");
        const plain = JSON.stringify(judgedCopy(restored));
        expect(plain).toBe(JSON.stringify(copy) ?? "null");
      }),
      { numRuns: runs(100) },
    );
  });

  it("is refused for what nests too deeply", () => {
    const deep = (levels: number) => Array.from({ length: levels }).reduce<unknown>((value) => [value], 1);
    expect(judgedCopy(deep(64))).toEqual(deep(64));
    expect(() => judgedCopy(deep(65))).toThrow("deeper");
    expect(() => judgedCopy(deep(100_000))).toThrow("deeper");
  });

  it("keeps Dates, copied, and refuses invalid ones", () => {
    const at = new Date(0);
    const copy = judgedCopy({ at }) as { at: Date };
    at.setTime(1);
    expect(copy).toEqual({ at: new Date(0) });
    expect(() => judgedCopy([new Date(Number.NaN)])).toThrow("a Date is invalid");
  });

  it("refuses a key __proto__, which a plain copy would leave out", () => {
    expect(() => judgedCopy(JSON.parse('{"a": [{"__proto__": {"b": 1}}]}'))).toThrow("__proto__");
  });
});

describe("a clipped text", () => {
  it("is the text, or a beginning of at most so many bytes and how many are missing", () => {
    const encoder = new TextEncoder();
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), fc.nat({ max: 300 }), (text, maxBytes) => {
        const bytes = encoder.encode(text).length;
        const clipped = clip(text, maxBytes);
        if (bytes <= maxBytes) {
          expect(clipped).toBe(text);
          return;
        }
        const [, kept = "", missing] = /^(.*)… \[(\d+) more bytes\]$/s.exec(clipped) ?? [];
        expect(text.startsWith(kept)).toBe(true);
        expect(encoder.encode(kept).length).toBeLessThanOrEqual(maxBytes);
        expect(encoder.encode(kept).length + Number(missing)).toBe(bytes);
      }),
    );
  });
});
