import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "@harnesskit/wire";
import { isObject, jsonProblem, maxJsonDepth, measureJson } from "@harnesskit/wire/json";

/** What a tool returned, made ready for its result; a `text` where it is larger than that may be. */
export type EncodedOutput = { readonly bytes: number } & (
  | { readonly output: JsonObject | undefined }
  | { readonly text: string }
);

/** Judges an output: a JSON object, or undefined. Returns what is wrong with another: `type` or `not_json`. */
export const encodeOutput = (value: unknown, maxBytes: number): EncodedOutput | "type" | "not_json" => {
  if (value === undefined) return { output: undefined, bytes: 0 };
  if (!isObject(value)) return "type";
  try {
    return { output: value as JsonObject, bytes: measureJson(value, { maxBytes }).length };
  } catch {
    // It is large, or only JSON.stringify makes JSON of it.
  }
  try {
    const { text, bytes, copy } = writeJson(value);
    if (!isObject(copy)) return "type";
    return bytes <= maxBytes ? { output: copy as JsonObject, bytes } : { text, bytes };
  } catch {
    return "not_json";
  }
};

/** A value as JSON has it. */
export interface WrittenJson {
  readonly text: string;
  /** In UTF-8. */
  readonly bytes: number;
  /** A copy that shares nothing with the value. */
  readonly copy: JsonValue;
}

/** Writes a value by the rules of `JSON.stringify`. Throws `invalid_argument` for what has no JSON or nests too deeply. */
export const writeJson = (value: unknown): WrittenJson => {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new InvalidArgumentError("the value has no JSON form", { cause });
  }
  if (text === undefined) throw new InvalidArgumentError("the value has no JSON form");
  const copy = JSON.parse(text) as JsonValue;
  if (jsonProblem(copy)) {
    throw new InvalidArgumentError(`the value nests deeper than ${maxJsonDepth} levels`);
  }
  return { text, bytes: Buffer.byteLength(text), copy };
};
