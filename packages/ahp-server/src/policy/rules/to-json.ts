import { RuleError } from "../policy-error.ts";

const maxDepth = 64;

const refuse = (what: string): never => {
  throw new RuleError("policy_decision", `${what} has no form in JSON`);
};

/** What CEL gives as JSON: whole numbers become numbers, sets lists, maps objects, times texts. Throws `policy_decision`. */
export const toJson = (value: unknown, depth = 0): unknown => {
  if (depth > maxDepth) return refuse("a value of so many levels");
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "number" && !Number.isFinite(value)) return refuse("a number without an end");
  if (typeof value !== "object" || value === null) return value === undefined ? null : value;
  if (Array.isArray(value) || value instanceof Set)
    return Array.from(value, (item) => toJson(item, depth + 1));
  if (value instanceof Date) return value.toISOString();
  const entries = value instanceof Map ? value.entries() : Object.entries(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!(value instanceof Map) && prototype !== Object.prototype && prototype !== null)
    return refuse("a value");
  const object: Record<string, unknown> = {};
  for (const [key, item] of entries) {
    // Assigned, the one key would change the object's prototype.
    Object.defineProperty(object, String(key), {
      value: toJson(item, depth + 1),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return object;
};
