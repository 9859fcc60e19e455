import type { JsonObject, JsonValue } from "./json.ts";

/** Gives an array of JSON back: itself, or a copy if a key had to be dropped in it. */
const keepArray = (list: readonly unknown[]): JsonValue[] | undefined => {
  let copy: JsonValue[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const kept = keepJson(list[index]);
    if (kept === undefined) return undefined;
    if (copy) copy.push(kept);
    else if (kept !== list[index]) copy = [...(list.slice(0, index) as JsonValue[]), kept];
  }
  return copy ?? (list as JsonValue[]);
};

/**
 * Gives an object of JSON back: itself, or a copy without the keys `__proto__` in it. Undefined for anything but an
 * ordinary object whose values are all JSON.
 */
export const keepJsonObject = (value: unknown): JsonObject | undefined => {
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) {
    return undefined;
  }
  if (Object.getOwnPropertySymbols(value).length > 0) return undefined;
  const object = value as Record<string, unknown>;
  const keys = Object.keys(object);
  let copy: JsonObject | undefined = Object.hasOwn(object, "__proto__") ? {} : undefined;
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    if (key === "__proto__") continue;
    const kept = keepJson(object[key]);
    if (kept === undefined) return undefined;
    if (copy === undefined && kept !== object[key]) {
      copy = {};
      for (const earlier of keys.slice(0, index)) copy[earlier] = object[earlier] as JsonValue;
    }
    if (copy) copy[key] = kept;
  }
  return copy ?? (object as JsonObject);
};

/** Gives a JSON value back: itself, or a copy without the keys `__proto__` in it. Undefined for what is no JSON. */
export const keepJson = (value: unknown): JsonValue | undefined => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : undefined;
    default:
      if (value === null) return null;
      return Array.isArray(value) ? keepArray(value) : keepJsonObject(value);
  }
};
