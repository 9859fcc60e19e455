const noJson = Symbol("no JSON");

/** Deeper than what any tool takes, and shallow enough to be a message. */
const maxDepth = 48;

/** Why a value cannot be judged: it has no faithful JSON. */
export interface NoJson {
  readonly problem: string;
}

export const isNoJson = (value: unknown): value is NoJson =>
  typeof value === "object" && value !== null && noJson in value;

const fail = (problem: string): NoJson => ({ [noJson]: true, problem }) as NoJson;

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  // Objects of another realm are plain too.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

const copyObject = (value: object, depth: number): unknown => {
  const copy: Record<string, unknown> = {};
  for (const [key, entry] of Object.entries(value)) {
    if (key === "__proto__") return fail("a key is __proto__");
    const copied = copyValue(entry, depth + 1);
    if (isNoJson(copied)) return copied;
    copy[key] = copied;
  }
  return Object.getOwnPropertySymbols(value).length > 0 ? fail("it has symbols as keys") : copy;
};

const copyArray = (value: readonly unknown[], depth: number): unknown => {
  const copy: unknown[] = [];
  for (const entry of value) {
    const copied = entry === undefined ? fail("a list has a gap") : copyValue(entry, depth + 1);
    if (isNoJson(copied)) return copied;
    copy.push(copied);
  }
  return copy;
};

const copyValue = (value: unknown, depth: number): unknown => {
  if (depth > maxDepth) return fail(`it nests deeper than ${maxDepth} levels`);
  if (value === undefined || value === null) return value;
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number")
    return Number.isFinite(value) ? value : fail(`${value} is no number of JSON`);
  if (typeof value !== "object") return fail(`a ${typeof value} is no JSON`);
  if (Array.isArray(value)) return copyArray(value, depth);
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? fail("a time is none") : new Date(value.getTime());
  }
  return isPlain(value) ? copyObject(value, depth) : fail("an object is of a class of its own");
};

/**
 * A copy that nobody else holds, of a value whose JSON says all of it: plain objects, lists, texts, numbers, booleans,
 * null and times. What was judged can so not be changed before it runs, and nothing runs that was not shown.
 */
export const judgedCopy = (value: unknown): unknown => copyValue(value, 0);
