/** The keywords of JSON Schema (draft 2020-12) that a core evaluates, by the kind of their values. */
const keywords = {
  reference: "$ref",
  schema:
    "items contains additionalProperties propertyNames not if then else unevaluatedItems unevaluatedProperties",
  schemas: "prefixItems allOf anyOf oneOf",
  "schema-map": "$defs definitions properties dependentSchemas",
  "pattern-map": "patternProperties",
  pattern: "pattern",
  type: "type",
  values: "enum",
  value: "const",
  number: "maximum exclusiveMaximum minimum exclusiveMinimum",
  positive: "multipleOf",
  count: "maxLength minLength maxContains minContains maxItems minItems maxProperties minProperties",
  boolean: "uniqueItems",
  strings: "required",
  "strings-map": "dependentRequired",
} as const;

const wordList = (list: string): string[] => list.split(" ");

export type KeywordShape = keyof typeof keywords;

/** Every other keyword, such as titles, defaults and formats, is an annotation and does not matter for validation. */
export const keywordShapes: ReadonlyMap<string, KeywordShape> = new Map(
  (Object.keys(keywords) as KeywordShape[]).flatMap((shape) =>
    wordList(keywords[shape]).map((keyword) => [keyword, shape] as const),
  ),
);

/** These change what a reference means or need other documents. */
export const refusedKeywords: ReadonlySet<string> = new Set(
  wordList("$dynamicRef $recursiveRef $dynamicAnchor $recursiveAnchor"),
);

/** These look at each entry or character of the value, beside what their subschemas do. */
export const loopingKeywords: ReadonlySet<string> = new Set([
  ...wordList("additionalProperties patternProperties propertyNames unevaluatedProperties unevaluatedItems"),
  ...wordList("uniqueItems contains minLength maxLength enum const"),
]);

export const typeNames: ReadonlySet<unknown> = new Set(
  wordList("null boolean object array number integer string"),
);
