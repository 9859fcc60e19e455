import { isObject, isPlainObject, maxMessageDepth } from "@harnesskit/wire/json";
import { isList } from "../list.ts";
import { FieldFault, type FieldSchema } from "./field.ts";

const freeze = (value: unknown, depth: number): void => {
  if (typeof value !== "object" || value === null) return;
  if (depth > maxMessageDepth) throw new RangeError(`nested deeper than ${maxMessageDepth} levels`);
  if (Array.isArray(value)) {
    // A list is frozen with all its items.
    if (isList(value as unknown)) return;
    for (const item of value) freeze(item, depth + 1);
  } else if (isPlainObject(value)) {
    for (const key of Object.keys(value)) freeze(value[key], depth + 1);
  } else {
    return;
  }
  Object.freeze(value);
};

/**
 * Freezes arrays and plain objects at any depth and returns the value. Other objects in it, such as a `Date`, stay as they are: a
 * state that is not stored need not be JSON. Throws a `RangeError` for a value that is nested too deeply.
 */
export const deepFreeze = <T>(value: T): T => {
  freeze(value, 1);
  return value;
};

const issuePath = (path: readonly (PropertyKey | { readonly key: PropertyKey })[] = []): string =>
  path
    .map((part) => (typeof part === "object" ? part.key : part))
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
    .join("");

/**
 * The value as its schema returns it, deeply frozen. A stored value has been through the schema before: it is kept as it is, since
 * a schema that transforms must not see its own output. Throws a {@link FieldFault} if the schema refuses the value.
 */
export const check = (schema: FieldSchema, given: unknown, isStored = false, place = ""): unknown => {
  const fault = (why: string, cause?: unknown) => new FieldFault("validation", `${place}${why}`, cause);
  const value = isList(given) ? [...given] : given;
  let result: ReturnType<FieldSchema["~standard"]["validate"]>;
  try {
    result = schema["~standard"].validate(value);
  } catch (cause) {
    throw fault(": the schema threw", cause);
  }
  if (result instanceof Promise) {
    result.catch(() => {});
    throw fault(": the schema answers with a promise");
  }
  if (result.issues !== undefined) {
    const [issue] = result.issues;
    throw fault(`${issuePath(issue?.path)}: ${issue?.message ?? "refused"}`, result);
  }
  try {
    return deepFreeze(isStored ? value : result.value);
  } catch (cause) {
    throw fault(": it cannot be frozen", cause);
  }
};

/** Checks the items of a list; `offset` is the index of the first one in the field. */
export const checkItems = (
  item: FieldSchema,
  items: readonly unknown[],
  isStored = false,
  offset = 0,
): unknown[] => Array.from(items, (value, index) => check(item, value, isStored, `[${offset + index}]`));

/** Throws a {@link FieldFault} of a reducer unless this is a list. */
export function demandList(value: unknown, what: string): asserts value is readonly unknown[] {
  if (!Array.isArray(value)) throw new FieldFault("reducer", `${what} is not a list`);
}

/** Throws a {@link FieldFault} of a reducer unless this is a mapping. */
export function demandMapping(value: unknown, what: string): asserts value is Record<string, unknown> {
  if (!isObject(value)) throw new FieldFault("reducer", `${what} is not a mapping`);
}
