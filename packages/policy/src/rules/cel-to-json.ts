import { maxJsonDepth } from "@harnesskit/wire/json";
import { RuleError } from "../policy-error.ts";

const notJson = (what: string): never => {
  throw new RuleError("policy_decision", `${what} cannot be written as JSON`);
};

/** A value of CEL as JSON: integers become numbers, sets arrays, maps objects, times strings. Throws `policy_decision`. */
export const celToJson = (value: unknown, depth = 0): unknown => {
  if (depth > maxJsonDepth) return notJson(`a value of more than ${maxJsonDepth} levels`);
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "number" && !Number.isFinite(value)) return notJson("an infinite number");
  if (typeof value !== "object" || value === null) return value ?? null;
  if (Array.isArray(value) || value instanceof Set)
    return Array.from(value, (item) => celToJson(item, depth + 1));
  if (value instanceof Date) return value.toISOString();
  const isMap = value instanceof Map;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!isMap && prototype !== Object.prototype && prototype !== null) return notJson("a value");
  // Built from entries, `__proto__` is a key like any other.
  return Object.fromEntries(
    [...(isMap ? value : Object.entries(value))].map(([key, item]) => [
      String(key),
      celToJson(item, depth + 1),
    ]),
  );
};
