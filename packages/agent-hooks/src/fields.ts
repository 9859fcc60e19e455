import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";

/** Without what is undefined or null. */
export const withoutAbsent = (fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null)) as JsonObject;
