import { corrupt } from "./sqlite-store-error.ts";
import type { SqlValue } from "./statement.ts";
import type { StoreFile } from "./store-file.ts";

/** A whole number of a row. Throws `corrupt`. */
export const numberIn = (value: SqlValue | undefined): number => {
  if (typeof value !== "number") throw corrupt("a number is missing");
  return value;
};

/** A text of a row. Throws `corrupt`. */
export const textIn = (value: SqlValue | undefined): string => {
  if (typeof value !== "string") throw corrupt("a text is missing");
  return value;
};

/** The numbers of the file, each given once and greater than all before: versions, revisions, fences. Within a write. */
export const createNumbers = (file: StoreFile): (() => number) => {
  const next = file.prepare("UPDATE counter SET last = last + 1 WHERE one = 1 RETURNING last");
  return () => numberIn(next.get()?.[0]);
};
