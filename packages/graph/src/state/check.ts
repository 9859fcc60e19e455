import { listOfView } from "../list-view.ts";
import { FieldFault } from "./field-fault.ts";
import { deepFreeze } from "./freeze.ts";
import type { FieldSchema } from "./standard-schema.ts";

const placeOf = (path: readonly (PropertyKey | { readonly key: PropertyKey })[] = []): string =>
  path
    .map((part) => (typeof part === "object" ? part.key : part))
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
    .join("");

/** The value as its schema gives it, deeply frozen. Throws a {@link FieldFault} where the schema does not take it. */
export const check = (schema: FieldSchema, value: unknown, place = ""): unknown => {
  let result: ReturnType<FieldSchema["~standard"]["validate"]>;
  try {
    result = schema["~standard"].validate(listOfView(value)?.toArray() ?? value);
  } catch (cause) {
    throw new FieldFault("validation", `${place}: the schema threw`, cause);
  }
  if (result instanceof Promise) {
    result.catch(() => {});
    throw new FieldFault("validation", `${place}: the schema answers with a promise`);
  }
  if (result.issues !== undefined) {
    const [issue] = result.issues;
    throw new FieldFault(
      "validation",
      `${place}${placeOf(issue?.path)}: ${issue?.message ?? "refused"}`,
      result,
    );
  }
  try {
    return deepFreeze(result.value);
  } catch (cause) {
    throw new FieldFault("validation", `${place}: cannot be frozen`, cause);
  }
};

/** Each item as the schema gives it. `from` is the index of the first one, for the message. */
export const checkItems = (schema: FieldSchema, items: readonly unknown[], from = 0): unknown[] =>
  items.map((item, index) => check(schema, item, `[${from + index}]`));

/** True for objects that are no arrays. */
export const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Throws a {@link FieldFault} of a reducer unless this is a list. */
export function demandList(value: unknown, what: string): asserts value is readonly unknown[] {
  if (!Array.isArray(value)) throw new FieldFault("reducer", `${what} is no list`);
}

/** Throws a {@link FieldFault} of a reducer unless this is a mapping. */
export function demandMapping(
  value: unknown,
  what: string,
): asserts value is Readonly<Record<string, unknown>> {
  if (!isMapping(value)) throw new FieldFault("reducer", `${what} is no mapping`);
}
