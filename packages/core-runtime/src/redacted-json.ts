import type { Redactor } from "@harnesskit/audit";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";

const redactedValue = (value: JsonValue, redactor: Redactor): JsonValue => {
  if (typeof value === "string") return redactor.text(value);
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value)
    ? value.map((entry) => redactedValue(entry, redactor))
    : redactedJson(value, redactor);
};

/** The object without what looks like a secret in its strings. Keys stay. */
export const redactedJson = (value: JsonObject, redactor: Redactor): JsonObject =>
  Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, redactedValue(entry, redactor)]));
