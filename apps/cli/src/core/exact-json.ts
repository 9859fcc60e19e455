import { roundedNumber } from "@harnesskit/wire/json";
import { usageError } from "../cli-error.ts";

/**
 * Parses the JSON of an option. Throws a usage error for a number that would be read as another one: what is approved or
 * sent would not be what was written. Throws a `SyntaxError` for what is not JSON.
 */
export const parseExactJson = (option: string, text: string): unknown => {
  const value: unknown = JSON.parse(text);
  const rounded = roundedNumber(text);
  if (rounded === undefined) return value;
  throw usageError(
    `${option}: ${rounded} is too large for a number`,
    "Write it as a string, if the tool takes one",
  );
};
