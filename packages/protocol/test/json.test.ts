import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { runs } from "../../../scripts/lib/nightly.ts";
import { JsonObjectSchema, JsonValueSchema } from "../src/envelope/index.ts";

/** What zod makes of any JSON by itself. */
const plainValue = z.json();
const plainObject = z.record(z.string(), z.json());

class Point {
  x = 1;
}

/** Values that look like JSON and are none, and that no parser of JSON makes. */
const noJson = fc.constantFrom<unknown>(
  undefined,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  1n,
  Symbol("s"),
  () => 1,
  new Date(0),
  new Map([["a", 1]]),
  new Set([1]),
  /x/,
  new Point(),
  new Uint8Array(2),
  Object.assign([1], { 2: "beyond a hole" }),
);
const odd = fc.constantFrom<unknown>(Object.create(null), -0, 2 ** 60, "\ud800", { constructor: 1 });
const key = fc.oneof(
  fc.string({ maxLength: 4 }),
  fc.constantFrom("__proto__", "constructor", "prototype", "toString", "0"),
);

/** Keeps `__proto__` as a key, as JSON.parse does. */
const objectOf = (entries: readonly (readonly [string, unknown])[]) => {
  const object = {};
  for (const [name, value] of entries) {
    Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
  }
  return object;
};

/** JSON, with `__proto__` here and there, and in some places what is no JSON. */
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small", maxDepth: 4 },
    {
      weight: 4,
      arbitrary: fc.oneof(fc.string(), fc.double({ noNaN: true }), fc.boolean(), fc.constant(null)),
    },
    { weight: 1, arbitrary: odd },
    { weight: 1, arbitrary: noJson },
    { weight: 4, arbitrary: fc.array(tie("tree"), { maxLength: 4 }) },
    { weight: 6, arbitrary: fc.array(fc.tuple(key, tie("tree")), { maxLength: 4 }).map(objectOf) },
  ),
}));

const hasProtoKey = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (Object.hasOwn(value, "__proto__") || Object.values(value).some(hasProtoKey));

/** A copy of plain objects and arrays without properties that are undefined. */
const withoutUndefined = (value: unknown): unknown => {
  if (Array.isArray(value)) return Array.from(value, withoutUndefined);
  const prototype: unknown =
    typeof value === "object" && value !== null ? Object.getPrototypeOf(value) : undefined;
  if (prototype !== null && prototype !== Object.prototype) return value;
  const entries = Object.entries(value as object).filter(([, entry]) => entry !== undefined);
  return objectOf(entries.map(([name, entry]) => [name, withoutUndefined(entry)] as const));
};

describe("the schemas of any JSON", () => {
  it.each([
    ["value", JsonValueSchema, plainValue],
    ["object", JsonObjectSchema, plainObject],
  ])("of a JSON %s take, make and refuse what zod's own do", (_what, schema, plain) => {
    const seen = { taken: 0, refused: 0 };
    fc.assert(
      fc.property(tree, (value) => {
        const ours = schema.safeParse(value);
        // An undefined property is absent for us, and refused by zod.
        const theirs = plain.safeParse(withoutUndefined(value));
        expect(ours.success).toBe(theirs.success);
        expect(JSON.stringify(ours.data)).toBe(JSON.stringify(theirs.data));
        theirs.success ? seen.taken++ : seen.refused++;
      }),
      { numRuns: runs(200) },
    );
    expect(seen.taken).toBeGreaterThan(20);
    expect(seen.refused).toBeGreaterThan(20);
  });

  it("copy nothing unless a key __proto__ has to go, and then leave the original as it was", () => {
    let copied = 0;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), key, fc.jsonValue({ maxDepth: 2 }), (inner, name, value) => {
        const document = {
          list: [
            1,
            objectOf([
              ["a", inner],
              [name, value],
            ]),
          ],
          other: { b: inner },
        };
        const before = JSON.stringify(document);
        const kept = JsonObjectSchema.parse(document);
        expect(JSON.stringify(document)).toBe(before);
        expect(hasProtoKey(kept)).toBe(false);
        if (hasProtoKey(document)) {
          copied++;
          expect(kept).not.toBe(document);
        } else {
          expect(kept).toBe(document);
        }
      }),
    );
    expect(copied).toBeGreaterThan(0);
  });

  it("name the place of what is not JSON", () => {
    const issueOf = (value: unknown) => JsonObjectSchema.safeParse(value).error?.issues[0];
    expect(issueOf([])).toMatchObject({
      code: "invalid_type",
      path: [],
      message: "Invalid input: expected object, received array",
    });
    expect(issueOf({ a: { b: [undefined] } })).toMatchObject({ code: "custom", path: ["a", "b", 0] });
    expect(issueOf({ a: new Date(0) })?.path).toEqual(["a"]);
  });

  it("refuse what nests deeper than any message", () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
    expect(JsonValueSchema.safeParse(nested(80)).success).toBe(true);
    expect(JsonValueSchema.safeParse(nested(81)).success).toBe(false);
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(JsonValueSchema.safeParse(deep).success).toBe(false);
  });
});
