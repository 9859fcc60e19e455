import type { JsonValue } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "@harnesskit/wire";
import { jsonProblem, maxJsonDepth } from "@harnesskit/wire/json";

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
