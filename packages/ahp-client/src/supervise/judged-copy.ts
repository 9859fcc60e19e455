import { isPlainObject, JsonError, maxJsonDepth } from "@harnesskit/wire/json";

const refuseCopy = (message: string): never => {
  throw new JsonError({ code: "not_json", path: "", keys: [], message });
};

const copyObject = (value: object, depth: number): unknown => {
  if (!isPlainObject(value)) return refuseCopy("an object is an instance of a class");
  if (Object.hasOwn(value, "__proto__")) return refuseCopy("a key is __proto__");
  if (Object.getOwnPropertySymbols(value).length > 0) return refuseCopy("a key is a symbol");
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, copyOf(entry, depth + 1)]));
};

const copyOf = (value: unknown, depth: number): unknown => {
  if (depth > maxJsonDepth) return refuseCopy(`it nests deeper than ${maxJsonDepth} levels`);
  if (value === undefined || value === null) return value;
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number")
    return Number.isFinite(value) ? value : refuseCopy(`${value} is not a JSON number`);
  if (typeof value !== "object") return refuseCopy(`a ${typeof value} is not JSON`);
  if (Array.isArray(value)) {
    return Array.from(value, (entry) =>
      copyOf(entry ?? (entry === null ? null : refuseCopy("a list has a gap")), depth + 1),
    );
  }
  if (!(value instanceof Date)) return copyObject(value, depth);
  return Number.isNaN(value.getTime()) ? refuseCopy("a Date is invalid") : new Date(value.getTime());
};

/**
 * A private copy of arguments whose JSON says all of them: as `copyJson`, and with copies of Dates, which a tool's schema
 * may create. Nothing is left out: a key `__proto__` or a symbol as a key is refused. Throws {@link JsonError} `not_json`.
 */
export const judgedCopy = (value: unknown): unknown => copyOf(value, 0);
