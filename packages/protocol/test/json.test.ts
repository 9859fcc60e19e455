import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonObjectSchema, JsonValueSchema } from "../src/envelope/index.ts";

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

const hasProtoKey = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (Object.hasOwn(value, "__proto__") || Object.values(value).some(hasProtoKey));

describe("the schemas of any JSON", () => {
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
