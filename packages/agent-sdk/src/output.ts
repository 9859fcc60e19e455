import type { JsonObject } from "@harnesskit/protocol/envelope";
import { budgetAfter, isJsonObject, writeJson } from "./json-size.ts";
import { maxPayloadDepth } from "./limits.ts";
import type { Problem } from "./schema.ts";

/** What a tool returned, made ready for its result. */
export type EncodedOutput =
  | { readonly kind: "output"; readonly output: JsonObject | undefined; readonly bytes: number }
  | { readonly kind: "large"; readonly text: string; readonly bytes: number; readonly maxBytes: number }
  | { readonly kind: "invalid"; readonly problem: Problem };

export interface EncodeOptions {
  /** Bytes that surely fit, so that a small output need not be measured exactly. */
  readonly sureBytes: number;
  readonly maxBytes: () => number;
}

/** Judges an output: it is a JSON object, or nothing, and has a size. */
export const encodeOutput = (value: unknown, { sureBytes, maxBytes }: EncodeOptions): EncodedOutput => {
  if (value === undefined) return { kind: "output", output: undefined, bytes: 0 };
  if (!isJsonObject(value))
    return { kind: "invalid", problem: { path: "", problem: "type", expected: "object" } };
  const left = budgetAfter(value, sureBytes, maxPayloadDepth);
  if (left >= 0) return { kind: "output", output: value, bytes: sureBytes - left };
  let written: ReturnType<typeof writeJson>;
  try {
    written = writeJson(value, maxPayloadDepth);
  } catch {
    return { kind: "invalid", problem: { path: "", problem: "not_json" } };
  }
  const { text, bytes, copy } = written;
  if (!isJsonObject(copy))
    return { kind: "invalid", problem: { path: "", problem: "type", expected: "object" } };
  const limit = maxBytes();
  return bytes <= limit
    ? { kind: "output", output: copy, bytes }
    : { kind: "large", text, bytes, maxBytes: limit };
};
