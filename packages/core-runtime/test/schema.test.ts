import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { cpuTimer } from "../../../test-kit/test-kit.ts";
import { coreLimits } from "../src/core-limits.ts";
import { checkValue, type JudgedSchema, loadSchemaCompiler } from "../src/judge-tool.ts";
import { SchemaRefusal, toSafeSchema } from "../src/safe-schema.ts";

const limits = {
  ...coreLimits.defaults,
  maxSchemaNodes: 50,
  maxSchemaDepth: 5,
  maxPatterns: 3,
  maxPatternLength: 20,
};

const refusalOf = (schema: unknown) => {
  try {
    toSafeSchema(schema as Record<string, unknown>, limits);
    return undefined;
  } catch (refusal) {
    return refusal instanceof SchemaRefusal ? `${refusal.path}: ${refusal.problem}` : refusal;
  }
};

beforeAll(() => loadSchemaCompiler());

const validatorOf = (schema: object) => {
  const judged = toSafeSchema(schema as Record<string, unknown>, coreLimits.defaults);
  return (value: unknown) => checkValue(judged, value, coreLimits.defaults);
};

const timed = (act: () => unknown) => {
  const spentMs = cpuTimer();
  const value = act();
  return { value, ms: spentMs() };
};

const tooCostly = { path: "", keyword: "", message: "is too large or too intricate for the schema" };

describe("a schema of unknown origin", () => {
  it("is refused where it is not a JSON Schema, with the place", () => {
    expect([
      refusalOf({ type: "thing" }),
      refusalOf({ properties: { a: { type: [] } } }),
      refusalOf({ required: "a" }),
      refusalOf({ items: 7 }),
      refusalOf({ maxLength: -1 }),
      refusalOf({ multipleOf: 0 }),
      refusalOf({ exclusiveMinimum: true }),
      refusalOf({ enum: [] }),
      refusalOf({ allOf: [] }),
      refusalOf({ pattern: "(" }),
      refusalOf({ patternProperties: { "(": {} } }),
      refusalOf({ dependentRequired: { a: [1] } }),
      refusalOf({ uniqueItems: "yes" }),
      refusalOf({ properties: [] }),
    ]).toEqual([
      "/type: must be a type of JSON Schema",
      "/properties/a/type: must be a type of JSON Schema",
      "/required: must be a list of strings",
      "/items: a schema must be an object or a boolean",
      "/maxLength: must be a whole number of at least 0",
      "/multipleOf: must be a number above 0",
      "/exclusiveMinimum: must be a number",
      "/enum: must be a list of values",
      "/allOf: must be a list of schemas",
      "/pattern: must be a regular expression",
      "/patternProperties: must be a regular expression",
      "/dependentRequired/a: must be a list of strings",
      "/uniqueItems: must be true or false",
      "/properties: must be an object of schemas",
    ]);
  });

  it("is refused where it refers elsewhere, to nothing, or changes what references mean", () => {
    expect([
      refusalOf({ $ref: "https://example.com/x" }),
      refusalOf({ $ref: "other.json" }),
      refusalOf({ $ref: "#/$defs/none" }),
      refusalOf({ $ref: "#/%" }),
      refusalOf({ $ref: "#/title", title: "t" }),
      refusalOf({ items: { $id: "x" } }),
      refusalOf({ contains: { anyOf: [{ $ref: "#/$defs/n" }] }, $defs: { n: {} } }),
      refusalOf({ $dynamicRef: "#x" }),
      refusalOf(JSON.parse('{"properties":{"__proto__":{}}}')),
    ]).toEqual([
      "/$ref: a reference must point into the same schema (#/…)",
      "/$ref: a reference must point into the same schema (#/…)",
      "/$ref: the reference points to no subschema",
      "/$ref: the reference is malformed",
      "/$ref: the reference points to no subschema",
      "/items: $id is not supported inside a schema",
      "/contains/anyOf/0/$ref: a reference under contains is not supported",
      ": $dynamicRef is not supported",
      "/properties: a property must not be called __proto__",
    ]);
  });

  it("is refused where it is larger than the limits", () => {
    const nest = (depth: number): object => (depth === 0 ? {} : { items: nest(depth - 1) });
    expect([
      refusalOf(nest(6)),
      refusalOf({ allOf: Array.from({ length: 50 }, () => true) }),
      refusalOf({ allOf: ["a", "b", "c", "d"].map((pattern) => ({ pattern })) }),
      refusalOf({ pattern: "a".repeat(21) }),
      refusalOf({ patternProperties: { "(?=a)": {} } }),
    ]).toEqual([
      "/items/items/items/items/items/items: nested deeper than 5 subschemas",
      ": more than 50 subschemas",
      "/allOf/3/pattern: more than 3 regular expressions",
      "/pattern: a regular expression of more than 20 characters",
      "/patternProperties: lookaround and back references are not supported in names of properties",
    ]);
    expect([refusalOf(nest(5)), refusalOf({ allOf: Array.from({ length: 49 }, () => true) })]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it("cannot hold the process up: not by a pattern, not by references, not by a large value", () => {
    const references: Record<string, object> = { a30: { type: "object" } };
    for (let n = 0; n < 30; n++) {
      const next = { $ref: `#/$defs/a${n + 1}` };
      references[`a${n}`] = { anyOf: [next, next] };
    }
    const bombs: [object, unknown, unknown][] = [
      [{ pattern: "^(a+)+$" }, `${"a".repeat(5000)}!`, "pattern"],
      [{ pattern: "^(a|a)*b$" }, "a".repeat(5000), "pattern"],
      [{ pattern: "(.*a){20}" }, "b".repeat(500_000), ""],
      [{ $ref: "#" }, {}, ""],
      [{ allOf: [{ $ref: "#" }, { $ref: "#" }] }, {}, ""],
      [{ $defs: references, $ref: "#/$defs/a0" }, 1, ""],
      [{ items: { allOf: Array.from({ length: 200 }, () => ({ minimum: 0 })) } }, Array(100_000).fill(1), ""],
      [{ uniqueItems: true }, Array.from({ length: 200_000 }, (_, n) => n), undefined],
      [{ enum: Array.from({ length: 5000 }, (_, n) => ({ n })) }, { n: -1 }, "enum"],
    ];
    for (const [schema, value, keyword] of bombs) {
      const validate = validatorOf(schema);
      const { value: problem, ms } = timed(() => validate(value));
      expect((problem as typeof tooCostly | undefined)?.keyword, JSON.stringify(schema).slice(0, 80)).toBe(
        keyword,
      );
      if (keyword === "") expect(problem).toEqual(tooCostly);
      expect(ms, JSON.stringify(schema).slice(0, 80)).toBeLessThan(4000);
    }
  });

  it("never makes the judgement throw, whatever it is", () => {
    const keyword = fc.constantFrom(
      "type",
      "properties",
      "items",
      "$ref",
      "allOf",
      "pattern",
      "enum",
      "required",
      "not",
      "$defs",
      "if",
    );
    const schema = fc.dictionary(
      keyword,
      fc.oneof(fc.jsonValue(), fc.dictionary(fc.string(), fc.jsonValue())),
    );
    fc.assert(
      fc.property(schema, fc.jsonValue(), (source, value) => {
        let judged: JudgedSchema;
        try {
          judged = toSafeSchema(source, coreLimits.defaults);
        } catch (refusal) {
          expect(refusal).toBeInstanceOf(SchemaRefusal);
          return;
        }
        const problem = checkValue(judged, value, coreLimits.defaults);
        expect(problem === undefined || typeof problem.message === "string").toBe(true);
      }),
      { numRuns: runs(60) },
    );
  });
});
