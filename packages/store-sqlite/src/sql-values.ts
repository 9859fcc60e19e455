import type { JsonValue } from "@harnesskit/protocol/envelope";
import { freezeJson, fromTextKey, maxMessageDepth } from "@harnesskit/wire/json";
import { corrupt } from "./failures.ts";

export { JsonWriter, toTextKey as toKey } from "@harnesskit/wire/json";

/** What goes into a statement and comes out of it. */
export type SqlValue = string | number | null;
export type SqlRow = readonly SqlValue[];

/** A number of a row. Throws `corrupt`. */
export const numberIn = (value: SqlValue | undefined): number => {
  if (typeof value !== "number") throw corrupt("a number is missing");
  return value;
};

/** A string of a row. Throws `corrupt`. */
export const textIn = (value: SqlValue | undefined): string => {
  if (typeof value !== "string") throw corrupt("a string is missing");
  return value;
};

/** The string of a key in a row. Throws `corrupt`. */
export const fromKey = (value: SqlValue | undefined): string => fromTextKey(textIn(value));

/** The value of stored JSON, deeply frozen. Throws `corrupt`. */
export const readJson = (value: SqlValue | undefined): JsonValue => {
  const text = textIn(value);
  try {
    return freezeJson(JSON.parse(text) as JsonValue, { maxDepth: maxMessageDepth });
  } catch (cause) {
    throw corrupt("a value is not JSON", cause);
  }
};
