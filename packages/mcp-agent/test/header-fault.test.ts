import { describe, expect, it } from "vitest";
import { headerFault } from "../src/header-fault.ts";

const header = (name: unknown, type: unknown = "string") => ({ type, "x-mcp-header": name });
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

describe("inputs that are repeated in headers", () => {
  it.each([
    ["none", object({ a: { type: "string" } })],
    ["of the three types", object({ a: header("A"), b: header("B", "integer"), c: header("C", "boolean") })],
    ["inside of another", object({ a: object({ b: header("B") }) })],
    ["whose parameter has the keyword's name", object({ "x-mcp-header": header("A") })],
    ["in a value that is no schema", object({ a: { type: "object", default: header("A") } })],
    ["no schema", true],
  ])("may be: %s", (_, schema) => {
    expect(headerFault(schema)).toBeUndefined();
  });

  const place = "properties.a";
  it.each([
    ["an empty name", object({ a: header("") }), place],
    ["a name with a space", object({ a: header("A B") }), place],
    ["a name with a line feed", object({ a: header("A\n") }), place],
    ["a name that is none", object({ a: header(7) }), place],
    ["a number", object({ a: header("A", "number") }), place],
    ["an object", object({ a: header("A", "object") }), place],
    ["two types", object({ a: header("A", ["string", "null"]) }), place],
    ["no type", object({ a: { "x-mcp-header": "A" } }), place],
    ["the same name twice", object({ b: header("Region"), a: header("REGION") }), place],
    ["the top", { ...object({}), "x-mcp-header": "A" }, "the top"],
    ["items", object({ a: { type: "array", items: header("A") } }), `${place}.items`],
    ["below items", object({ a: { items: object({ b: header("B") }) } }), `${place}.items.properties.b`],
    ["a composition", object({}, { anyOf: [object({ a: header("A") })] }), "anyOf.0.properties.a"],
    ["a definition", object({}, { $defs: { a: header("A") } }), "$defs.a"],
    ["a condition", object({}, { if: object({ a: header("A") }) }), "if.properties.a"],
    ["a pattern", object({}, { patternProperties: { "^a": header("A") } }), "patternProperties.^a"],
  ])("may not be: %s", (_, schema, at) => {
    expect(headerFault(schema)).toMatch(/^its x-mcp-header at /);
    expect(headerFault(schema)).toContain(` at ${at} is `);
  });
});
