import type { JsonValue } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "@harnesskit/wire";
import { freezeJson, jsonProblem, maxMessageDepth } from "@harnesskit/wire/json";
import { corrupt } from "./failures.ts";

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

/** SQLite ends a string at NUL, and stores UTF-8 only. */
const needsQuotes = /^"|\0|\p{Surrogate}/u;

/** Any string as one that SQLite keeps unchanged, unique to it. Throws `invalid_argument` for another type. */
export const toKey = (id: string): string => {
  if (typeof id !== "string") throw new InvalidArgumentError(`an id must be a string, not ${typeof id}`);
  return needsQuotes.test(id) ? JSON.stringify(id) : id;
};

/** The string of a key in a row. Throws `corrupt`. */
export const fromKey = (value: SqlValue | undefined): string => {
  const key = textIn(value);
  return key.startsWith('"') ? (JSON.parse(key) as string) : key;
};

/** Writes values as JSON, and notices what will be read as another value. */
export class JsonWriter {
  /** False once -0 or a property that is undefined was written. */
  isExact = true;

  /** A value as JSON. Throws `invalid_argument` with its name for a value that JSON cannot hold. */
  text(value: unknown, name: string): string {
    const problem = jsonProblem(value, { name, maxDepth: maxMessageDepth });
    if (problem !== undefined) {
      throw new InvalidArgumentError(`${name} cannot be stored: ${problem.message}`, {
        cause: problem.cause,
      });
    }
    return JSON.stringify(value, (_, part: unknown) => {
      if (part === undefined || Object.is(part, -0)) this.isExact = false;
      return part;
    });
  }
}

/** The value of stored JSON, deeply frozen. Throws `corrupt`. */
export const readJson = (value: SqlValue | undefined): JsonValue => {
  const text = textIn(value);
  try {
    return freezeJson(JSON.parse(text) as JsonValue, { maxDepth: maxMessageDepth });
  } catch (cause) {
    throw corrupt("a value is not JSON", cause);
  }
};
