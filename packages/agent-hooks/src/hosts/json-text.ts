import type { JsonValue } from "@harnesskit/protocol/envelope";
import { copyJson } from "@harnesskit/wire/json";

/** Arguments that a host sends as JSON of an object: the object. Any other value is itself. */
export const parseObjectText = (value: JsonValue): JsonValue => {
  if (typeof value !== "string" || !value.trimStart().startsWith("{")) return value;
  try {
    return copyJson(JSON.parse(value));
  } catch {
    return value;
  }
};
