import { maxMessageDepth } from "@harnesskit/protocol/base";
import { InvalidArgumentError } from "../errors.ts";
import { jsonProblem } from "./json.ts";

/** Databases end a string at NUL or refuse it, and store UTF-8 only. */
const needsQuotes = /^"|\0|\p{Surrogate}/u;

/**
 * Any string as one that a column of text keeps unchanged, unique to it; {@link fromTextKey} reverses it. Throws
 * `invalid_argument` for another type.
 */
export const toTextKey = (id: string): string => {
  if (typeof id !== "string") throw new InvalidArgumentError(`an id must be a string, not ${typeof id}`);
  return needsQuotes.test(id) ? JSON.stringify(id) : id;
};

/** The string that {@link toTextKey} was given. Throws a `SyntaxError` for what it never returns. */
export const fromTextKey = (key: string): string => (key.startsWith('"') ? (JSON.parse(key) as string) : key);

/** Writes values as JSON for a store, and notices what will be read as another value. */
export class JsonWriter {
  /** False once -0 or a property that is undefined was written. */
  isExact = true;

  /** A value as JSON. Throws `invalid_argument` with its name for a value that JSON cannot hold. */
  text(value: unknown, name: string): string {
    const problem = jsonProblem(value, { name, maxDepth: maxMessageDepth });
    if (problem !== undefined) {
      throw new InvalidArgumentError(`${name} cannot be stored: ${problem.message}`, {
        cause: problem.cause,
      });
    }
    return JSON.stringify(value, (_, part: unknown) => {
      if (part === undefined || Object.is(part, -0)) this.isExact = false;
      return part;
    });
  }
}
