import type { JsonValue } from "@harnesskit/protocol/envelope";

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
