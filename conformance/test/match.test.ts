// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of scenarios look like those of templates.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { match } from "../src/match/match.ts";
import { createRandom, createScope } from "../src/match/scope.ts";

const json = fc.jsonValue({ maxDepth: 4 }).map((value): unknown => JSON.parse(JSON.stringify(value)));

describe("match", () => {
  it("matches each value with itself, and with nothing that differs", () => {
    fc.assert(
      fc.property(json, json, (left, right) => {
        expect(match(left, { $is: left })).toBeUndefined();
        const isSame = JSON.stringify(left) === JSON.stringify(right);
        if (match(left, { $is: right }) === undefined) expect(left).toEqual(right);
        else expect(isSame).toBe(false);
      }),
    );
  });

  it("takes an object with more members than those that are named", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.integer()), (object) => {
        expect(match({ ...object, more: true }, object)).toBeUndefined();
        expect(match(object, { ...object, missing: "$any" })).toMatchObject({ path: ".missing" });
      }),
    );
  });

  it.each([
    [{ a: [1, 2] }, { a: [1, 3] }, ".a[1]"],
    [{ a: [1, 2] }, { a: [1] }, ".a"],
    [{ a: null }, { a: "$absent" }, ".a"],
    ["", "$text", ""],
    [1.5, "$integer", ""],
    ["2026-02-30T00:00:00Z", "$time", ""],
    [[1, 2], { $each: { $range: { max: 1 } } }, "[1]"],
    [[1, 2], { $has: 3 }, ""],
    [[1, 2], { $order: [2, 1] }, ""],
    [[1, 2], { $length: 3 }, ".length"],
    ["abc", { $pattern: "^b" }, ""],
    [{ a: 1 }, { $or: [{ a: 2 }, { b: 1 }] }, ""],
    [{ a: 1 }, { $and: [{ a: 1 }, { b: 1 }] }, ".b"],
    [{ a: 1 }, { $not: { a: 1 } }, ""],
    [{ a: { b: "secret" } }, { $json: { $not: { $pattern: "secret" } } }, ""],
  ])("finds where %j is not %j", (value, matcher, path) => {
    expect(match(value, matcher)).toMatchObject({ path });
  });

  it("finds a member that two elements share, also deep in some of them", () => {
    const list = [
      { type: "a", of: { id: 1 } },
      { type: "b", of: { id: 1 } },
      { type: "a", of: { id: 2 } },
    ];
    const ids = (type: string) => ({ $unique: { of: { type }, by: "of.id" } });
    expect(match(list, ids("a"))).toBeUndefined();
    expect(match([...list, list[0]], ids("a"))).toMatchObject({ found: [1, 2, 1] });
    expect(match([...list, list[0]], ids("b"))).toBeUndefined();
    expect(match(list, { $unique: "type" })).toMatchObject({ found: ["a", "b", "a"] });
    expect(match([1, 2], { $unique: true })).toBeUndefined();
    expect(match([1, 1], { $unique: true })).toMatchObject({ found: [1, 1] });
  });

  it("takes matchers that a suite has named", () => {
    expect(match({ a: 1 }, { a: "$small" }, { small: { $range: { max: 9 } } })).toBeUndefined();
    expect(match({ a: 10 }, { a: "$small" }, { small: { $range: { max: 9 } } })).toMatchObject({
      path: ".a",
    });
  });
});

describe("a scope", () => {
  const scope = createScope({ list: [{ a: 1 }], table: { x: "y" }, key: "x" }, createRandom(7));

  it("replaces references by values of any type, and within a string by their text", () => {
    expect(scope.resolve("${list}")).toEqual([{ a: 1 }]);
    expect(scope.resolve("at ${list[0].a} and ${list.length}")).toBe("at 1 and 1");
    expect(scope.resolve({ deep: ["${table[key]}"] })).toEqual({ deep: ["y"] });
  });

  it("builds values", () => {
    expect(scope.resolve({ $merge: ["${list[0]}", { a: 2, b: 3 }] })).toEqual({ a: 2, b: 3 });
    expect(scope.resolve({ $flat: ["${list}", [2]] })).toEqual([{ a: 1 }, 2]);
    expect(scope.resolve({ $deep: [{ a: { b: 1, c: [1] } }, { a: { c: [2], d: "${key}" } }] })).toEqual({
      a: { b: 1, c: [2], d: "x" },
    });
    expect(scope.resolve({ $stringify: { a: "${key}" } })).toBe('{"a":"x"}');
    expect(scope.resolve({ $repeat: { text: "ab", times: 2 } })).toBe("abab");
  });

  it("gives the same random values for the same seed, and the same within a scope", () => {
    const other = createScope({}, createRandom(7));
    const first = createScope({}, createRandom(7)).resolve("${random.id}");
    expect(other.resolve("${random.id}")).toBe(first);
    expect(other.resolve("${random.id} ${random.id}")).toBe(`${String(first)} ${String(first)}`);
  });

  it("says which value is missing", () => {
    scope.set("gone", 1);
    scope.forget("gone");
    for (const path of ["gone", "list[3].a", "list.constructor"]) {
      const missing = path.split(/[[.]/)[0];
      expect(() => scope.resolve(`\${${path}}`)).toThrow(
        expect.objectContaining({ name: "Unreached", code: "unreached", missing }),
      );
    }
  });
});
