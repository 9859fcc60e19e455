import { isObject } from "@harnesskit/wire/json";
import type { CoreLimits } from "./core-limits.ts";
import { judgePattern } from "./judge-pattern.ts";
import {
  type KeywordShape,
  keywordShapes,
  loopingKeywords,
  refusedKeywords,
  typeNames,
} from "./schema-keywords.ts";

export type SchemaLimits = Pick<
  CoreLimits,
  "maxSchemaNodes" | "maxSchemaDepth" | "maxPatterns" | "maxPatternLength"
>;

/** A schema that is safe to compile, or where it is not and why. */
export type SafeSchema =
  | {
      readonly ok: true;
      /** What of the schema bears on validation, with a weight for the meter in each subschema. */
      readonly schema: Readonly<Record<string, unknown>>;
      /** Patterns that are left out, because no engine tests them in linear time. */
      readonly uncheckedPatterns: number;
    }
  | { readonly ok: false; readonly path: string; readonly problem: string };

/** The keyword that the compiled schema counts its steps with. */
export const stepKeyword = "harnessSteps";

/** What one subschema costs; `loops` for each entry or character of the value. */
export interface Steps {
  readonly weight: number;
  readonly loops: boolean;
}

class Refusal {
  constructor(
    readonly path: string,
    readonly problem: string,
  ) {}
}

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
      if (!this.#places.has(target)) throw new Refusal(path, "the reference points to no subschema");
    }
  }

  schema(value: unknown, path: string, depth: number): unknown {
    if (++this.#nodes > this.#limits.maxSchemaNodes) {
      throw new Refusal("", `more than ${this.#limits.maxSchemaNodes} subschemas`);
    }
    if (depth > this.#limits.maxSchemaDepth) {
      throw new Refusal(path, `nested deeper than ${this.#limits.maxSchemaDepth} subschemas`);
    }
    this.#places.add(path);
    if (typeof value === "boolean") return value;
    if (!isObject(value)) throw new Refusal(path, "a schema must be an object or a boolean");
    return this.#object(value, path, depth);
  }

  #object(source: Record<string, unknown>, path: string, depth: number): Record<string, unknown> {
    const copy: Record<string, unknown> = {};
    let weight = 1;
    let loops = false;
    for (const keyword of Object.keys(source)) {
      if (refusedKeywords.has(keyword)) throw new Refusal(path, `${keyword} is not supported`);
      if (keyword === "$id" && depth > 0) throw new Refusal(path, "$id is not supported inside a schema");
      if (Array.isArray(source[keyword]) && keyword === "items") {
        this.#itemsOfOldDrafts(source, copy, path, depth);
        continue;
      }
      const shape = keywordShapes.get(keyword);
      if (shape === undefined) continue;
      loops ||= loopingKeywords.has(keyword);
      if (keyword === "contains") this.#containsDepth++;
      const kept = this.#keyword(shape, source[keyword], `${path}/${keyword}`, depth);
      if (keyword === "contains") this.#containsDepth--;
      if (kept === undefined) continue;
      copy[keyword] = kept;
      weight +=
        shape === "values" || shape === "value" ? countValues(kept) : Array.isArray(kept) ? kept.length : 1;
    }
    copy[stepKeyword] = { weight, loops } satisfies Steps;
    return copy;
  }

  /** Before 2020-12, `items` could be a list, and `additionalItems` was about the rest. */
  #itemsOfOldDrafts(
    source: Record<string, unknown>,
    copy: Record<string, unknown>,
    path: string,
    depth: number,
  ): void {
    copy.prefixItems = this.#keyword("schemas", source.items, `${path}/items`, depth);
    if (source.additionalItems !== undefined) {
      copy.items = this.#keyword("schema", source.additionalItems, `${path}/additionalItems`, depth);
    }
  }

  /** The keyword's value as it is compiled; undefined where nothing of it is. */
  #keyword(shape: KeywordShape, value: unknown, path: string, depth: number): unknown {
    switch (shape) {
      case "schema":
        return this.schema(value, path, depth + 1);
      case "schemas":
        if (!Array.isArray(value) || value.length === 0) throw new Refusal(path, "must be a list of schemas");
        return value.map((entry, index) => this.schema(entry, `${path}/${index}`, depth + 1));
      case "schema-map":
        return this.#schemaMap(value, path, depth);
      case "pattern-map":
        return this.#patternMap(value, path, depth);
      case "pattern":
        return this.#pattern(value, path) ? value : undefined;
      case "reference":
        return this.#reference(value, path);
      case "strings-map":
        if (!isObject(value)) throw new Refusal(path, "must be an object");
        return Object.fromEntries(
          this.#namesOf(value, path).map((name) => [
            name,
            checkShape("strings", value[name], `${path}/${name}`),
          ]),
        );
      default:
        return checkShape(shape, value, path);
    }
  }

  #schemaMap(value: unknown, path: string, depth: number): Record<string, unknown> {
    if (!isObject(value)) throw new Refusal(path, "must be an object of schemas");
    const copy: Record<string, unknown> = {};
    for (const name of this.#namesOf(value, path)) {
      copy[name] = this.schema(value[name], `${path}/${escapePointer(name)}`, depth + 1);
    }
    return copy;
  }

  #patternMap(value: unknown, path: string, depth: number): Record<string, unknown> {
    const copy = this.#schemaMap(value, path, depth);
    for (const pattern of Object.keys(copy)) {
      if (!this.#pattern(pattern, path)) {
        throw new Refusal(path, "lookaround and back references are not supported in names of properties");
      }
    }
    return copy;
  }

  #namesOf(value: Record<string, unknown>, path: string): string[] {
    const names = Object.keys(value);
    if (names.includes("__proto__")) throw new Refusal(path, "a property must not be called __proto__");
    return names;
  }

  /** True when the pattern is to be tested. */
  #pattern(value: unknown, path: string): boolean {
    if (typeof value !== "string") throw new Refusal(path, "must be a regular expression");
    if (++this.#patterns > this.#limits.maxPatterns) {
      throw new Refusal(path, `more than ${this.#limits.maxPatterns} regular expressions`);
    }
    if (value.length > this.#limits.maxPatternLength) {
      throw new Refusal(
        path,
        `a regular expression of more than ${this.#limits.maxPatternLength} characters`,
      );
    }
    const judgement = judgePattern(value);
    if (judgement === "invalid") throw new Refusal(path, "must be a regular expression");
    if (judgement === "beyond") this.uncheckedPatterns++;
    return judgement === "linear";
  }

  #reference(value: unknown, path: string): string {
    // ajv copies the problems of all entries before for each entry that does not fit: quadratic in a list's length.
    if (this.#containsDepth > 0) throw new Refusal(path, "a reference under contains is not supported");
    if (typeof value !== "string" || (value !== "#" && !value.startsWith("#/"))) {
      throw new Refusal(path, "a reference must point into the same schema (#/…)");
    }
    let target: string;
    try {
      target = decodeURIComponent(value.slice(1));
    } catch {
      throw new Refusal(path, "the reference is malformed");
    }
    this.#references.push({ path, target });
    return value;
  }
}

const escapePointer = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

const isListOfStrings = (value: unknown): boolean =>
  Array.isArray(value) && value.every((entry) => typeof entry === "string");

const isTypes = (value: unknown): boolean => {
  const names: unknown[] = Array.isArray(value) ? value : [value];
  return (
    names.length > 0 && names.every((name) => typeNames.has(name)) && new Set(names).size === names.length
  );
};

/** What the value of a keyword must be that is compiled as it is. */
const plainShapes: Partial<Record<KeywordShape, readonly [string, (value: unknown) => boolean]>> = {
  strings: ["must be a list of strings", isListOfStrings],
  number: ["must be a number", (value) => typeof value === "number"],
  positive: ["must be a number above 0", (value) => typeof value === "number" && value > 0],
  count: [
    "must be a whole number of at least 0",
    (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  ],
  boolean: ["must be true or false", (value) => typeof value === "boolean"],
  values: ["must be a list of values", (value) => Array.isArray(value) && value.length > 0],
  type: ["must be a type of JSON Schema", isTypes],
};

const checkShape = (shape: KeywordShape, value: unknown, path: string): unknown => {
  const [problem, isValid] = plainShapes[shape] ?? [];
  if (problem !== undefined && !isValid?.(value)) throw new Refusal(path, problem);
  return value;
};

const countValues = (value: unknown): number => {
  if (typeof value !== "object" || value === null) return 1;
  let count = 1;
  for (const entry of Object.values(value)) count += countValues(entry);
  return count;
};

/**
 * Copies what of a schema bears on validation, and refuses what is not JSON Schema (2020-12, or what older drafts share
 * with it), refers elsewhere, or is larger than the limits. The time is linear in the schema's size; nothing is
 * compiled. The schema must be JSON.
 */
export const toSafeSchema = (schema: Readonly<Record<string, unknown>>, limits: SchemaLimits): SafeSchema => {
  const copier = new SchemaCopier(limits);
  try {
    const copy = copier.schema(schema, "", 0) as Record<string, unknown>;
    copier.finish();
    return { ok: true, schema: copy, uncheckedPatterns: copier.uncheckedPatterns };
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    return { ok: false, path: refusal.path.slice(0, 256), problem: refusal.problem };
  }
};
