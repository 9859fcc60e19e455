import { hash } from "node:crypto";
import type { JsonValue } from "@harnesskit/protocol/envelope";

/** Characters of an id that stores take. */
export const maxIdLength = 256;
const keptLength = 200;

/**
 * A string of an agent as an id that a store takes; undefined for what is not a string, or empty. Of a longer one the start is kept with the digest
 * of the whole, so that two ids are never one.
 */
export const shortId = (value: unknown): string | undefined => {
  if (typeof value !== "string" || value === "") return undefined;
  if (value.length <= maxIdLength) return value;
  return `${value.slice(0, keptLength)}…${hash("sha256", value, "base64url")}`;
};

const maxSummaryLength = 300;

export const textOf = (value: JsonValue | undefined): string => {
  if (typeof value === "string") return value;
  return value === undefined ? "" : JSON.stringify(value);
};

/** One line of a string that may be long; made safe before it is kept. */
export const firstLine = (text: string): string => {
  const start = text.slice(0, 4 * maxSummaryLength);
  const end = start.indexOf("\n");
  return end === -1 ? start : start.slice(0, end);
};
