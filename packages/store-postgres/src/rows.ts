import type { JsonValue } from "@harnesskit/protocol/envelope";
import { freezeJson, fromTextKey, maxMessageDepth } from "@harnesskit/wire/json";
import { corrupt } from "./failures.ts";

/** Milliseconds since the epoch, by the database's clock. */
export const nowSql = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** A number of a row; `bigint` comes as a string. Throws `corrupt`. */
export const safeNumber = (value: unknown): number => {
  const number = typeof value === "string" ? Number(value) : value;
  if (!Number.isSafeInteger(number)) throw corrupt("a number is missing or too large");
  return number as number;
};

/** A string of a row. Throws `corrupt`. */
export const textIn = (value: unknown): string => {
  if (typeof value !== "string") throw corrupt("a string is missing");
  return value;
};

/** The string of a key in a row. Throws `corrupt`. */
export const keyIn = (value: unknown): string => fromTextKey(textIn(value));

/** A time of a row, as RFC 3339 in UTC with milliseconds. Throws `corrupt`. */
export const timeIn = (value: unknown): string => {
  if (!(value instanceof Date)) throw corrupt("a time is missing");
  return value.toISOString();
};

/** The value of stored JSON, deeply frozen. Throws `corrupt`. */
export const readJson = (value: unknown): JsonValue => {
  const text = textIn(value);
  try {
    return freezeJson(JSON.parse(text) as JsonValue, { maxDepth: maxMessageDepth });
  } catch (cause) {
    throw corrupt("a value is not JSON", cause);
  }
};
