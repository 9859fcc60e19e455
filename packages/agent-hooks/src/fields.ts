import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";

type Fields = Readonly<Record<string, JsonValue | undefined>>;

const select = (fields: Fields, isKept: (value: JsonValue | undefined) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => isKept(value))) as JsonObject;

export const withoutUndefined = (fields: Fields): JsonObject =>
  select(fields, (value) => value !== undefined);

/** Without what is undefined or null. */
export const withoutAbsent = (fields: Fields): JsonObject => select(fields, (value) => value != null);
