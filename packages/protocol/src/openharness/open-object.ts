import { z } from "zod";
import { type JsonObject, type JsonValue, JsonValueSchema } from "../envelope/json.ts";
import { type Keep, keepOf, quickSchema } from "../quick-schema.ts";

const keepList = (list: readonly unknown[]): JsonValue[] | undefined => {
  let copy: JsonValue[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const kept = keepOpenValue(list[index]);
    if (kept === undefined) return undefined;
    if (copy) copy.push(kept);
    else if (kept !== list[index]) copy = [...(list.slice(0, index) as JsonValue[]), kept];
  }
  return copy ?? (list as JsonValue[]);
};

const copyOf = (object: Readonly<Record<string, unknown>>): JsonObject | undefined => {
  const copy: JsonObject = {};
  for (const key of Object.keys(object)) {
    if (key === "__proto__") continue;
    const kept = keepOpenValue(object[key]);
    if (kept === undefined) return undefined;
    copy[key] = kept;
  }
  return copy;
};

/** Whether a value is an object as JSON has it. */
const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** @internal Gives an object back: itself, or a copy without what {@link keepOpenValue} leaves out. Undefined for what is no object of JSON. */
export const keepOpenObject = (value: unknown): JsonObject | undefined => {
  if (!isPlain(value)) return undefined;
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    if (key === "__proto__") return copyOf(value);
    const kept = keepOpenValue(value[key]);
    if (kept === undefined) return undefined;
    if (kept !== value[key]) return copyOf(value);
  }
  return value as JsonObject;
};

/**
 * Gives a value back as it is, without the keys `__proto__` in it, and with null in the place of a number that
 * is too large for JavaScript (`1e400`), which is what it would become on its way out. Undefined for what is no JSON.
 */
const keepOpenValue = (value: unknown): JsonValue | undefined => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : null;
    default:
      if (value === null) return null;
      return Array.isArray(value) ? keepList(value) : keepOpenObject(value);
  }
};

/** @internal Any value of a field that nobody here knows. */
export const OpenValueSchema: z.ZodType<JsonValue> = quickSchema(
  z.lazy(() => JsonValueSchema),
  keepOpenValue,
);

/** @internal An object whose fields belong to whoever sends them. */
export const openObject = (): z.ZodType<JsonObject> =>
  quickSchema(z.record(z.string(), OpenValueSchema), keepOpenObject);

/** @internal An object with fields that are known, and with those that are not, which are kept. */
export const openShape = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => {
  const known = keepsOf(shape);
  return quickSchema(z.object(shape).catchall(OpenValueSchema), (value) => {
    if (!isPlain(value)) return undefined;
    for (const { name, keep, isOptional } of known) {
      const found = value[name];
      // A field that is changed on its way is left to the schema.
      if (found === undefined ? !isOptional || name in value : keep(found) !== found) return undefined;
    }
    return keepOpenObject(value);
  });
};

/** @internal An object of which only known fields are kept. */
export const closedShape = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => {
  const known = keepsOf(shape);
  return quickSchema(z.object(shape), (value) => {
    if (!isPlain(value)) return undefined;
    const kept: Record<string, unknown> = {};
    for (const { name, keep, isOptional } of known) {
      const found = value[name];
      if (found === undefined) {
        if (!isOptional || name in value) return undefined;
        continue;
      }
      const field = keep(found);
      if (field === undefined) return undefined;
      kept[name] = field;
    }
    return kept;
  });
};

interface KnownField {
  readonly name: string;
  readonly keep: Keep;
  readonly isOptional: boolean;
}

const keepsOf = (shape: z.core.$ZodLooseShape): readonly KnownField[] =>
  Object.entries(shape).map(([name, schema]) => {
    const isOptional = schema instanceof z.ZodOptional;
    return { name, keep: keepOf(isOptional ? schema.unwrap() : schema), isOptional };
  });
