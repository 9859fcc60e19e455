import { isObject } from "@harnesskit/wire/json";

const keyword = "x-mcp-header";
/** RFC 9110 section 5.1. */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const types: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);
/** Under these keywords are schemas by name; under `properties`, the ones that a header may be of. */
const named: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "$defs",
  "definitions",
]);
/** Under these keywords are values, not schemas. */
export const dataKeywords: ReadonlySet<string> = new Set(["const", "default", "enum", "examples"]);

/**
 * Why a tool's inputs cannot be repeated in headers as its schema wants (`x-mcp-header`), with the place; undefined where they can.
 * MCP 2026-07-28, Streamable HTTP, "Schema Extension": such a tool is not offered.
 */
export const headerFault = (inputSchema: unknown): string | undefined => {
  const names = new Set<string>();
  const judge = ({ [keyword]: name, type }: Record<string, unknown>, isParameter: boolean) => {
    if (name === undefined) return undefined;
    if (!isParameter) return "is not of a parameter: only `properties` may lead to it";
    if (typeof name !== "string" || !token.test(name)) return "is not a name of a header";
    if (!types.has(type)) return "is of a parameter whose type is not string, integer or boolean";
    if (names.has(name.toLowerCase())) return "is the name of two parameters";
    names.add(name.toLowerCase());
    return undefined;
  };
  const faultIn = (schema: unknown, path: readonly string[], isParameter: boolean): string | undefined => {
    if (Array.isArray(schema)) return firstOf(schema.entries(), path, false);
    if (!isObject(schema)) return undefined;
    const fault = judge(schema, isParameter && path.length > 0);
    if (fault !== undefined) return `its ${keyword} at ${path.join(".") || "the top"} ${fault}`;
    for (const [key, value] of Object.entries(schema)) {
      if (dataKeywords.has(key)) continue;
      const inside = [...path, key];
      const found =
        named.has(key) && isObject(value)
          ? firstOf(Object.entries(value), inside, isParameter && key === "properties")
          : faultIn(value, inside, false);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const firstOf = (
    schemas: Iterable<[string | number, unknown]>,
    path: readonly string[],
    isParameter: boolean,
  ): string | undefined => {
    for (const [name, schema] of schemas) {
      const found = faultIn(schema, [...path, `${name}`], isParameter);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return faultIn(inputSchema, [], true);
};
