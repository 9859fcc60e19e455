import type { JsonValue } from "@harnesskit/protocol/envelope";

/** A result for a report, or the beginning of a larger one. `maxBytes` counts UTF-16 units. */
export const boundedResult = (result: JsonValue, maxBytes: number): JsonValue => {
  const text = JSON.stringify(result);
  return text.length <= maxBytes ? result : { cut: true, beginning: text.slice(0, maxBytes) };
};
