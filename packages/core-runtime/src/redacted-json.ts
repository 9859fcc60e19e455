import type { Redactor } from "@harnesskit/audit";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";

const redactedValue = (value: JsonValue, redactor: Redactor): JsonValue => {
  if (typeof value === "string") return redactor.text(value);
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value)
    ? value.map((entry) => redactedValue(entry, redactor))
    : redactedJson(value, redactor);
};

/** The object without what looks like a secret in its strings; the same object if it holds nothing but numbers and flags. */
export const redactedJson = (value: JsonObject, redactor: Redactor): JsonObject => {
  let redacted = value;
  for (const key of Object.keys(value)) {
    const entry = value[key] as JsonValue;
    const kept = redactedValue(entry, redactor);
    if (kept === entry) continue;
    if (redacted === value) redacted = { ...value };
    redacted[key] = kept;
  }
  return redacted;
};
