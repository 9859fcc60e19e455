import type { JsonObject } from "@harnesskit/protocol/envelope";
import { isObject, measureJson } from "@harnesskit/wire/json";
import type { Problem } from "./schema.ts";
import { type WrittenJson, writeJson } from "./written-json.ts";

/** What a tool returned, made ready for its result. */
export type EncodedOutput =
  | { readonly kind: "output"; readonly output: JsonObject | undefined; readonly bytes: number }
  | { readonly kind: "large"; readonly text: string; readonly bytes: number; readonly maxBytes: number }
  | { readonly kind: "invalid"; readonly problem: Problem };

const notObject: EncodedOutput = {
  kind: "invalid",
  problem: { path: "", problem: "type", expected: "object" },
};

/** Judges an output: a JSON object, or undefined. `sureBytes` fit in any case, `maxBytes` says exactly what does. */
export const encodeOutput = (value: unknown, sureBytes: number, maxBytes: () => number): EncodedOutput => {
  if (value === undefined) return { kind: "output", output: undefined, bytes: 0 };
  if (!isObject(value)) return notObject;
  try {
    const { length: bytes } = measureJson(value, { maxBytes: sureBytes });
    return { kind: "output", output: value as JsonObject, bytes };
  } catch {
    // It is large, or only JSON.stringify makes JSON of it.
  }
  let written: WrittenJson;
  try {
    written = writeJson(value);
  } catch {
    return { kind: "invalid", problem: { path: "", problem: "not_json" } };
  }
  const { text, bytes, copy } = written;
  if (!isObject(copy)) return notObject;
  const limit = maxBytes();
  return bytes <= limit
    ? { kind: "output", output: copy as JsonObject, bytes }
    : { kind: "large", text, bytes, maxBytes: limit };
};
