import { isObject } from "@harnesskit/wire/json";
import { FieldFault } from "./field.ts";

/** What tells an item from others: the name of one of its properties, or a function. */
export type KeyOf<T> = (keyof T & string) | ((item: T) => ItemKey);

/** What a key may be. */
export type ItemKey = string | number | boolean | bigint | null;

/** Says what is wrong with a declared key. */
export const keyProblem = (key: unknown): string | undefined =>
  typeof key === "function" || (typeof key === "string" && key !== "")
    ? undefined
    : "the key is neither the name of a property nor a function";

/** Reads the key of an item; throws a {@link FieldFault} if it cannot be compared. */
export const keyReader = (key: KeyOf<unknown> | undefined): ((item: unknown) => ItemKey) => {
  const read = (item: unknown): unknown => {
    if (key === undefined) return item;
    if (typeof key === "function") return key(item);
    return isObject(item) && Object.hasOwn(item, key) ? item[key] : undefined;
  };
  return (item) => {
    let found: unknown;
    try {
      found = read(item);
    } catch (cause) {
      throw new FieldFault("reducer", "the key function threw", cause);
    }
    const isKey = found === null || ["string", "number", "boolean", "bigint"].includes(typeof found);
    if (!isKey)
      throw new FieldFault("reducer", `a key is ${found === undefined ? "missing" : `a ${typeof found}`}`);
    return found as ItemKey;
  };
};
