import { isObject } from "@harnesskit/wire/json";
import type { CoreLimits } from "./core-limits.ts";

export type SchemaLimits = Pick<
  CoreLimits,
  "maxSchemaNodes" | "maxSchemaDepth" | "maxPatterns" | "maxPatternLength"
>;

/** A schema that is safe to compile. */
export interface SafeSchema {
  /** What of the schema bears on validation, with a weight for the meter in each subschema. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Patterns that are left out, because no engine tests them in linear time. */
  readonly uncheckedPatterns: number;
}

/** Where a schema is not safe to compile, and why. */
export class SchemaRefusal {
  constructor(
    readonly path: string,
    readonly problem: string,
  ) {}
}

/** The keyword that the compiled schema counts its steps with. */
export const stepKeyword = "harnessSteps";

/** What one subschema costs; `loops` for each entry or character of the value. */
export interface Steps {
  readonly weight: number;
  readonly loops: boolean;
}

const words = (list: string): ReadonlySet<string> => new Set(list.split(" "));

/** These change what a reference means or need other documents. */
const refused = words("$dynamicRef $recursiveRef $dynamicAnchor $recursiveAnchor");
/** These look at each entry or character of the value, beside what their subschemas do. */
const looping = words(
  "additionalProperties patternProperties propertyNames unevaluatedProperties unevaluatedItems uniqueItems contains minLength maxLength enum const",
);
const ofSchema = words(
  "items contains additionalProperties propertyNames not if then else unevaluatedItems unevaluatedProperties",
);
const ofSchemas = words("prefixItems allOf anyOf oneOf");
const ofSchemasByName = words("$defs definitions properties dependentSchemas patternProperties");

const typeNames: ReadonlySet<unknown> = words("null boolean object array number integer string");

const isTypes = (value: unknown): boolean => {
  const names: unknown[] = Array.isArray(value) ? value : [value];
  return (
    names.length > 0 && names.every((name) => typeNames.has(name)) && new Set(names).size === names.length
  );
};

const isStrings = (value: unknown): boolean =>
  Array.isArray(value) && value.every((entry) => typeof entry === "string");

/** The keywords that are compiled as they are, and what their values must be. */
const plain: readonly (readonly [ReadonlySet<string>, string, (value: unknown) => boolean])[] = [
  [words("type"), "must be a type of JSON Schema", isTypes],
  [words("enum"), "must be a list of values", (value) => Array.isArray(value) && value.length > 0],
  [words("const"), "", () => true],
  [
    words("maximum exclusiveMaximum minimum exclusiveMinimum"),
    "must be a number",
    (value) => typeof value === "number",
  ],
  [words("multipleOf"), "must be a number above 0", (value) => typeof value === "number" && value > 0],
  [
    words("maxLength minLength maxContains minContains maxItems minItems maxProperties minProperties"),
    "must be a whole number of at least 0",
    (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  ],
  [words("uniqueItems"), "must be true or false", (value) => typeof value === "boolean"],
  [words("required"), "must be a list of strings", isStrings],
];

/** Lookaround and back references: what no engine can test in linear time. */
const beyondLinear = /\(\?(?:[=!]|<[=!])|\\[1-9]|\\k</;

const isPattern = (pattern: string): boolean =>
  ["u", ""].some((flags) => {
    try {
      new RegExp(pattern, flags);
      return true;
    } catch {
      return false;
    }
  });

const escapePointer = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

const countValues = (value: unknown): number => {
  if (typeof value !== "object" || value === null) return 1;
  let count = 1;
  for (const entry of Object.values(value)) count += countValues(entry);
  return count;
};

class SchemaCopier {
  readonly #limits: SchemaLimits;
  readonly #places = new Set<string>();
  readonly #references: { path: string; target: string }[] = [];
  #nodes = 0;
  #patterns = 0;
  #containsDepth = 0;
  uncheckedPatterns = 0;

  constructor(limits: SchemaLimits) {
    this.#limits = limits;
  }

  /** Refuses references that lead nowhere. */
  finish(): void {
    for (const { path, target } of this.#references) {
      if (!this.#places.has(target)) throw new SchemaRefusal(path, "the reference points to no subschema");
    }
  }

  schema(value: unknown, path: string, depth: number): unknown {
    const { maxSchemaNodes, maxSchemaDepth } = this.#limits;
    if (++this.#nodes > maxSchemaNodes) throw new SchemaRefusal("", `more than ${maxSchemaNodes} subschemas`);
    if (depth > maxSchemaDepth) {
      throw new SchemaRefusal(path, `nested deeper than ${maxSchemaDepth} subschemas`);
    }
    this.#places.add(path);
    if (typeof value === "boolean") return value;
    if (!isObject(value)) throw new SchemaRefusal(path, "a schema must be an object or a boolean");
    const copy: Record<string, unknown> = {};
    let weight = 1;
    let loops = false;
    for (const [name, part] of Object.entries(value)) {
      if (refused.has(name)) throw new SchemaRefusal(path, `${name} is not supported`);
      if (name === "$id" && depth > 0) throw new SchemaRefusal(path, "$id is not supported inside a schema");
      // Before 2020-12, `items` could be a list, and `additionalItems` was about the rest.
      const isOld = Array.isArray(value.items);
      let keyword = name;
      if (isOld && name === "items") keyword = "prefixItems";
      else if (isOld && name === "additionalItems") keyword = "items";
      loops ||= looping.has(keyword);
      if (keyword === "contains") this.#containsDepth++;
      const kept = this.#keyword(keyword, part, `${path}/${name}`, depth + 1);
      if (keyword === "contains") this.#containsDepth--;
      if (kept === undefined) continue;
      copy[keyword] = kept;
      if (keyword === "enum" || keyword === "const") weight += countValues(kept);
      else weight += Array.isArray(kept) ? kept.length : 1;
    }
    copy[stepKeyword] = { weight, loops } satisfies Steps;
    return copy;
  }

  /** The keyword's value as it is compiled; undefined where nothing of it is: titles, defaults and formats are annotations. */
  #keyword(keyword: string, value: unknown, path: string, depth: number): unknown {
    if (ofSchema.has(keyword)) return this.schema(value, path, depth);
    if (ofSchemas.has(keyword)) {
      if (!Array.isArray(value) || value.length === 0)
        throw new SchemaRefusal(path, "must be a list of schemas");
      return value.map((entry, index) => this.schema(entry, `${path}/${index}`, depth));
    }
    if (ofSchemasByName.has(keyword)) {
      const isPatterns = keyword === "patternProperties";
      return this.#map(value, path, "must be an object of schemas", (name, entry) => {
        if (isPatterns && !this.#isTested(name, path)) {
          const problem = "lookaround and back references are not supported in names of properties";
          throw new SchemaRefusal(path, problem);
        }
        return this.schema(entry, `${path}/${escapePointer(name)}`, depth);
      });
    }
    if (keyword === "dependentRequired") {
      return this.#map(value, path, "must be an object", (name, entry) => {
        if (!isStrings(entry)) throw new SchemaRefusal(`${path}/${name}`, "must be a list of strings");
        return entry;
      });
    }
    if (keyword === "pattern") return this.#isTested(value, path) ? value : undefined;
    if (keyword === "$ref") return this.#reference(value, path);
    const [, problem = "", isValid] = plain.find(([keywords]) => keywords.has(keyword)) ?? [];
    if (isValid === undefined) return undefined;
    if (!isValid(value)) throw new SchemaRefusal(path, problem);
    return value;
  }

  #map(
    value: unknown,
    path: string,
    problem: string,
    copy: (name: string, entry: unknown) => unknown,
  ): Record<string, unknown> {
    if (!isObject(value)) throw new SchemaRefusal(path, problem);
    if (Object.hasOwn(value, "__proto__"))
      throw new SchemaRefusal(path, "a property must not be called __proto__");
    return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, copy(name, entry)]));
  }

  /** False for a pattern that cannot be tested in linear time. */
  #isTested(value: unknown, path: string): boolean {
    const { maxPatterns, maxPatternLength } = this.#limits;
    if (typeof value !== "string") throw new SchemaRefusal(path, "must be a regular expression");
    if (++this.#patterns > maxPatterns) {
      throw new SchemaRefusal(path, `more than ${maxPatterns} regular expressions`);
    }
    if (value.length > maxPatternLength) {
      throw new SchemaRefusal(path, `a regular expression of more than ${maxPatternLength} characters`);
    }
    if (!isPattern(value)) throw new SchemaRefusal(path, "must be a regular expression");
    const isBeyond = beyondLinear.test(value.replace(/\\[^1-9k]/g, "_"));
    if (isBeyond) this.uncheckedPatterns++;
    return !isBeyond;
  }

  #reference(value: unknown, path: string): string {
    // ajv copies the problems of all entries before for each entry that does not fit: quadratic in a list's length.
    if (this.#containsDepth > 0) {
      throw new SchemaRefusal(path, "a reference under contains is not supported");
    }
    if (typeof value !== "string" || (value !== "#" && !value.startsWith("#/"))) {
      throw new SchemaRefusal(path, "a reference must point into the same schema (#/…)");
    }
    try {
      this.#references.push({ path, target: decodeURIComponent(value.slice(1)) });
    } catch {
      throw new SchemaRefusal(path, "the reference is malformed");
    }
    return value;
  }
}

/**
 * Copies what of a schema bears on validation. The time is linear in the schema's size; nothing is compiled. The schema
 * must be JSON. Throws a {@link SchemaRefusal} for what is not JSON Schema (2020-12, or what older drafts share with it),
 * refers elsewhere, or is larger than the limits.
 */
export const toSafeSchema = (schema: Readonly<Record<string, unknown>>, limits: SchemaLimits): SafeSchema => {
  const copier = new SchemaCopier(limits);
  const copy = copier.schema(schema, "", 0) as Record<string, unknown>;
  copier.finish();
  return { schema: copy, uncheckedPatterns: copier.uncheckedPatterns };
};
