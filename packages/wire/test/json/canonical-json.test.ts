import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { canonicalJson, digest } from "../../src/index.ts";

const double = (hex: string): number => {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(`0x${hex}`));
  return view.getFloat64(0);
};

describe("canonicalJson", () => {
  it("writes the example of RFC 8785, section 3.2.2", () => {
    const value = JSON.parse(`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\"\\/",
      "literals": [null, true, false]
    }`) as unknown;
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it("sorts by UTF-16 units, as in the example of RFC 8785, section 3.2.3", () => {
    const value = {
      "\u20ac": "Euro Sign",
      "\r": "Carriage Return",
      "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face",
      "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis",
    };
    expect(Object.values(JSON.parse(canonicalJson(value)) as object)).toEqual([
      // JSON.parse puts the integer key first, as does the canonical order after the carriage return.
      "One",
      "Carriage Return",
      "Control",
      "Latin Small Letter O With Diaeresis",
      "Euro Sign",
      "Emoji: Grinning Face",
      "Hebrew Letter Dalet With Dagesh",
    ]);
    expect(canonicalJson(value).indexOf('"\\r"')).toBeLessThan(canonicalJson(value).indexOf('"1"'));
  });

  it.each([
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["c340000000000000", "-9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["44b52d02c7e14af7", "1.0000000000000001e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ])("writes the number %s of RFC 8785, appendix B", (hex, text) => {
    expect(canonicalJson(double(hex))).toBe(text);
  });

  const shuffled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffled);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, entry]) => [key, shuffled(entry)]),
    );
  };
  const json = fc.jsonValue({ stringUnit: "grapheme" });

  it("is the same JSON, whatever the order of the keys, and canonical already", () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(shuffled(value))).toBe(text);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
        expect(text).not.toMatch(/[\n\r\t]/);
      }),
    );
  });

  it("leaves out keys that are undefined, and keeps hostile ones", () => {
    expect(canonicalJson({ b: undefined, a: 1 })).toBe('{"a":1}');
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1},"b":1}');
  });

  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  it.each([
    ["undefined", undefined],
    ["a hole", [undefined]],
    ["a sparse array", Array(2)],
    ["NaN", Number.NaN],
    ["Infinity", [Number.NEGATIVE_INFINITY]],
    ["a bigint", { a: 1n }],
    ["a function", { a: () => 1 }],
    ["a symbol", Symbol("s")],
    ["a lone surrogate", "\ud800"],
    ["a lone surrogate in a key", { "\udc00": 1 }],
    ["a cycle", cyclic],
    ["a Date", new Date(0)],
    ["a Map", new Map([[1, 2]])],
    ["bytes", new Uint8Array(2)],
  ])("refuses %s with invalid_argument", (_what, value) => {
    expect(() => canonicalJson(value)).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  });
});

describe("digest", () => {
  it("is the same where only the browser's hash is there", async () => {
    const values = [{ a: 1 }, "é\u{1F600}", [null, "x".repeat(5_000)]];
    const digests = await Promise.all(values.map(digest));
    const builtin = vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined as never);
    onTestFinished(() => builtin.mockRestore());
    const plain = await Promise.all(values.map(digest));
    expect(builtin).toHaveBeenCalledTimes(values.length);
    expect(plain).toEqual(digests);
  });

  it("is SHA-256 of the canonical JSON", async () => {
    // printf '{"a":[1,"é"],"b":null}' | sha256sum
    await expect(digest({ b: null, a: [1, "é"] })).resolves.toBe(
      "sha256:1e02bc81a26af2f027329541e97eef36f3290bedc6dfe043dbe66b057ecb13ba",
    );
    await expect(digest({ a: [1, "é"], b: null })).resolves.toBe(
      "sha256:1e02bc81a26af2f027329541e97eef36f3290bedc6dfe043dbe66b057ecb13ba",
    );
  });
});
