/** How the value of a JSON Schema keyword looks (draft 2020-12), for those that a core evaluates. */
export type KeywordShape =
  | "schema"
  | "schemas"
  | "schema-map"
  | "pattern-map"
  | "number"
  | "positive"
  | "count"
  | "boolean"
  | "strings"
  | "strings-map"
  | "type"
  | "values"
  | "value"
  | "pattern"
  | "reference";

/** Everything else, such as titles, defaults and formats, is an annotation and no matter of validation. */
export const keywordShapes: ReadonlyMap<string, KeywordShape> = new Map([
  ["$ref", "reference"],
  ["$defs", "schema-map"],
  ["definitions", "schema-map"],
  ["type", "type"],
  ["enum", "values"],
  ["const", "value"],
  ["multipleOf", "positive"],
  ["maximum", "number"],
  ["exclusiveMaximum", "number"],
  ["minimum", "number"],
  ["exclusiveMinimum", "number"],
  ["maxLength", "count"],
  ["minLength", "count"],
  ["pattern", "pattern"],
  ["prefixItems", "schemas"],
  ["items", "schema"],
  ["contains", "schema"],
  ["maxContains", "count"],
  ["minContains", "count"],
  ["maxItems", "count"],
  ["minItems", "count"],
  ["uniqueItems", "boolean"],
  ["properties", "schema-map"],
  ["patternProperties", "pattern-map"],
  ["additionalProperties", "schema"],
  ["propertyNames", "schema"],
  ["required", "strings"],
  ["dependentRequired", "strings-map"],
  ["dependentSchemas", "schema-map"],
  ["maxProperties", "count"],
  ["minProperties", "count"],
  ["allOf", "schemas"],
  ["anyOf", "schemas"],
  ["oneOf", "schemas"],
  ["not", "schema"],
  ["if", "schema"],
  ["then", "schema"],
  ["else", "schema"],
  ["unevaluatedItems", "schema"],
  ["unevaluatedProperties", "schema"],
]);

/** These change what a reference means or need other documents. */
export const refusedKeywords: ReadonlySet<string> = new Set([
  "$dynamicRef",
  "$recursiveRef",
  "$dynamicAnchor",
  "$recursiveAnchor",
]);

/** These look at each entry or character of the value, beside what their subschemas do. */
export const loopingKeywords: ReadonlySet<string> = new Set([
  "additionalProperties",
  "patternProperties",
  "propertyNames",
  "unevaluatedProperties",
  "unevaluatedItems",
  "uniqueItems",
  "contains",
  "minLength",
  "maxLength",
  "enum",
  "const",
]);

/** Under these, a pattern that is not tested would turn the meaning around. */
export const invertingKeywords: ReadonlySet<string> = new Set(["not", "if", "maxContains"]);

export const typeNames: ReadonlySet<unknown> = new Set([
  "null",
  "boolean",
  "object",
  "array",
  "number",
  "integer",
  "string",
]);
