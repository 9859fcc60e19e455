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

/** An object without the keys `__proto__` in it; the keys before `from` are kept already. */
const copyOf = (object: Readonly<Record<string, unknown>>, from: string): JsonObject | undefined => {
  const copy: JsonObject = {};
  let isKept = true;
  for (const key of Object.keys(object)) {
    if (key === from) isKept = false;
    if (key === "__proto__") continue;
    const kept = isKept ? (object[key] as JsonValue) : keepJson(object[key]);
    if (kept === undefined) return undefined;
    copy[key] = kept;
  }
  return copy;
};

/**
 * Gives an object of JSON back: itself, or a copy without the keys `__proto__` in it. Undefined for anything but an
 * ordinary object whose values are all JSON. What JSON leaves out, such as keys that are symbols, is not looked at.
 */
export const keepJsonObject = (value: unknown): JsonObject | undefined => {
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) {
    return undefined;
  }
  const object = value as Record<string, unknown>;
  // Nothing is made for an object that is kept: this looks at everything that comes and goes.
  for (const key in object) {
    if (!Object.hasOwn(object, key)) continue;
    if (key === "__proto__") return copyOf(object, key);
    const kept = keepJson(object[key]);
    if (kept === undefined) return undefined;
    if (kept !== object[key]) return copyOf(object, key);
  }
  return object as JsonObject;
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
