import { hash } from "node:crypto";

/** Characters of an id that stores take. */
export const maxIdLength = 256;
const keptLength = 200;

/**
 * A string of an agent as an id that a store takes; undefined for what is no string, or empty. Of a longer one the start is kept with the digest
 * of the whole, so that two ids are never one.
 */
export const shortId = (value: unknown): string | undefined => {
  if (typeof value !== "string" || value === "") return undefined;
  if (value.length <= maxIdLength) return value;
  return `${value.slice(0, keptLength)}…${hash("sha256", value, "base64url")}`;
};
