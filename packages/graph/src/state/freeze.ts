import { listOfView } from "../list-view.ts";

/** How deep a value of a state may be nested; deeper ones, and those that contain themselves, are refused. */
const maxDepth = 1000;

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

const freeze = (value: unknown, depth: number): void => {
  if (typeof value !== "object" || value === null) return;
  if (depth > maxDepth) throw new RangeError(`nested deeper than ${maxDepth}`);
  if (Array.isArray(value)) {
    // A view cannot be changed, nor what is in it.
    if (listOfView(value) !== undefined) return;
    for (let index = 0; index < value.length; index++) freeze(value[index], depth + 1);
  } else if (isPlain(value)) {
    for (const key of Object.keys(value)) freeze((value as Record<string, unknown>)[key], depth + 1);
  } else {
    return;
  }
  Object.freeze(value);
};

/**
 * Freezes arrays and plain objects at any depth and gives the value back. Anything else in it, such as a `Date`, is left as it
 * is. Throws a `RangeError` for what is nested too deeply.
 */
export const deepFreeze = <T>(value: T): T => {
  freeze(value, 0);
  return value;
};

/** The same without saying where, for what is nearly always right. */
const isJson = (value: unknown, depth: number): boolean => {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || depth > maxDepth) return false;
  if (Array.isArray(value)) return value.every((item) => isJson(item, depth + 1));
  if (!isPlain(value)) return false;
  for (const key of Object.keys(value)) {
    const item = (value as Record<string, unknown>)[key];
    if (item !== undefined && !isJson(item, depth + 1)) return false;
  }
  return true;
};

const problemIn = (value: unknown, path: string, depth: number): string | undefined => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : `${path} is ${value}`;
    case "object":
      break;
    default:
      return `${path} is ${value === undefined ? "undefined" : `a ${typeof value}`}`;
  }
  if (value === null) return undefined;
  if (depth > maxDepth) return `${path} is nested deeper than ${maxDepth}`;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const problem = problemIn(value[index], `${path}[${index}]`, depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  if (!isPlain(value)) return `${path} is an object of a class`;
  for (const key of Object.keys(value)) {
    const item = (value as Record<string, unknown>)[key];
    const problem = item === undefined ? undefined : problemIn(item, `${path}.${key}`, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
};

/**
 * Says where a value is something that JSON cannot keep, as a path with its kind; undefined where it can. A property that is
 * undefined counts as absent.
 */
export const jsonProblem = (value: unknown, path = ""): string | undefined =>
  isJson(value, 0) ? undefined : problemIn(value, path, 0);
