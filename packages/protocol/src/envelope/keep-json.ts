import type { JsonObject, JsonValue } from "./json.ts";

/** Looks at JSON and gives it back. */
export interface JsonKeeper {
  /** Gives a value back: itself, or a copy without what is left out. Undefined for what is no JSON. */
  readonly value: (value: unknown) => JsonValue | undefined;
  /** The same for an object. Undefined for anything but an ordinary object whose values are all JSON. */
  readonly object: (value: unknown) => JsonObject | undefined;
}

/** Whether a value is an object as JSON has it. */
export const isOrdinary = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/**
 * Makes a keeper. Keys `__proto__` are left out at any depth; what JSON leaves out itself, such as keys that are symbols, is
 * not looked at. `noNumber` stands in the place of a number that JSON cannot tell: undefined where it is no JSON.
 */
export const jsonKeeper = (noNumber: null | undefined): JsonKeeper => {
  const keepList = (list: readonly unknown[]): JsonValue[] | undefined => {
    let copy: JsonValue[] | undefined;
    for (let index = 0; index < list.length; index++) {
      const kept = keepValue(list[index]);
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
      const kept = keepValue(object[key]);
      if (kept === undefined) return undefined;
      copy[key] = kept;
    }
    return copy;
  };

  const keepObject = (value: unknown): JsonObject | undefined => {
    if (!isOrdinary(value)) return undefined;
    // Nothing is made for an object that is kept: this looks at everything that comes and goes.
    for (const key in value) {
      if (!Object.hasOwn(value, key)) continue;
      if (key === "__proto__") return copyOf(value);
      const kept = keepValue(value[key]);
      if (kept === undefined) return undefined;
      if (kept !== value[key]) return copyOf(value);
    }
    return value as JsonObject;
  };

  const keepValue = (value: unknown): JsonValue | undefined => {
    switch (typeof value) {
      case "string":
      case "boolean":
        return value;
      case "number":
        return Number.isFinite(value) ? value : noNumber;
      default:
        if (value === null) return null;
        return Array.isArray(value) ? keepList(value) : keepObject(value);
    }
  };

  return { value: keepValue, object: keepObject };
};

const plain = jsonKeeper(undefined);

/** Gives a JSON value back: itself, or a copy without the keys `__proto__` in it. Undefined for what is no JSON. */
export const keepJson = plain.value;

/** As {@link keepJson}, for an object. */
export const keepJsonObject = plain.object;
