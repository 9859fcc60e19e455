import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clip } from "../../src/ai-sdk/clip.ts";
import { isNoJson, judgedCopy } from "../../src/ai-sdk/judged-copy.ts";

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

  it("is refused for anything whose JSON would say less, and never throws", () => {
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
        const copy = judgedCopy(given);
        if (isNoJson(copy)) return;
        // What JSON brings back is what would run, but for times and fields that are not there.
        const restored: unknown = JSON.parse(JSON.stringify(copy) ?? "null");
        const plain = JSON.stringify(judgedCopy(restored));
        expect(plain).toBe(JSON.stringify(copy) ?? "null");
      }),
      { numRuns: 500 },
    );
  });

  it("is refused for what nests too deeply", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(judgedCopy(deep)).toMatchObject({ problem: expect.stringContaining("deeper") });
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
