import { z } from "zod";
import { type JsonObject, type JsonValue, JsonValueSchema } from "../envelope/json.ts";
import { quickSchema } from "../quick-schema.ts";

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

/** @internal Gives an object back: itself, or a copy without what {@link keepOpenValue} leaves out. Undefined for what is no object of JSON. */
export const keepOpenObject = (value: unknown): JsonObject | undefined => {
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) {
    return undefined;
  }
  if (Object.getOwnPropertySymbols(value).length > 0) return undefined;
  const object = value as Record<string, unknown>;
  const keys = Object.keys(object);
  let copy: JsonObject | undefined;
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    const kept = key === "__proto__" ? null : keepOpenValue(object[key]);
    if (kept === undefined) return undefined;
    if (copy === undefined && (key === "__proto__" || kept !== object[key])) {
      copy = {};
      for (const earlier of keys.slice(0, index)) copy[earlier] = object[earlier] as JsonValue;
    }
    if (copy && key !== "__proto__") copy[key] = kept;
  }
  return copy ?? (object as JsonObject);
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
export const openShape = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.object(shape).catchall(OpenValueSchema);
