import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, describeDifference, jsonDifference } from "../../src/index.ts";

describe("the difference of two JSON values", () => {
  it.each<[unknown, unknown, object]>([
    [{ a: 1, b: 2 }, { a: 1 }, { path: "b", kind: "missing" }],
    [{ a: 1 }, { a: 1, b: null }, { path: "b", kind: "added" }],
    [{ a: { b: ["x", 1] } }, { a: { b: ["x", "1"] } }, { path: "a.b.1", kind: "changed" }],
    [[1, 2], [1], { path: "1", kind: "missing" }],
    [[1], [1, 2], { path: "1", kind: "added" }],
    [{}, [], { path: "", kind: "changed" }],
    [null, {}, { path: "", kind: "changed" }],
    [JSON.parse('{"__proto__":1}'), {}, { path: "__proto__", kind: "missing" }],
    [{ toString: 1 }, {}, { path: "toString", kind: "missing" }],
  ])("names the first place: %j and %j", (wanted, applied, difference) => {
    expect(jsonDifference(wanted, applied)).toEqual(difference);
  });

  it("begins paths where it is told, and takes undefined for absent", () => {
    expect(jsonDifference({ a: undefined }, {})).toBeUndefined();
    expect(jsonDifference({}, { a: undefined })).toBeUndefined();
    expect(jsonDifference([{ a: 1 }], [{ a: 2 }], "prompt")).toEqual({ path: "prompt.0.a", kind: "changed" });
  });

  it("is said in a few words, whatever the path", () => {
    expect(describeDifference({ path: "a.b", kind: "missing" })).toBe("a.b would be left out");
    expect(describeDifference({ path: "", kind: "changed" })).toBe(
      "the whole value would become another value",
    );
    expect(describeDifference({ path: "x".repeat(999), kind: "added" })).toBe(
      `${"x".repeat(200)}… would be added`,
    );
  });

  it("is absent exactly where the canonical JSON is the same", () => {
    const values = fc.jsonValue({ maxDepth: 3 }).filter((value) => !/\p{Cs}/u.test(JSON.stringify(value)));
    fc.assert(
      fc.property(values, values, fc.boolean(), (one, other, isSame) => {
        const applied = isSame ? JSON.parse(JSON.stringify(one)) : other;
        expect(jsonDifference(one, applied) === undefined).toBe(
          canonicalJson(one) === canonicalJson(applied),
        );
      }),
    );
  });
});
