import { type JsonProblem, type JsonWalkOptions, walkJson } from "@harnesskit/protocol/base";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { HarnessError } from "../errors.ts";

export { isObject } from "@harnesskit/protocol/base";

/** Bounds of a walk over a JSON value. */
export type JsonBounds = Pick<JsonWalkOptions, "maxDepth" | "maxBytes" | "name">;

/** A value is not JSON, or is larger or deeper than allowed. `path` says where; keys in it are untrusted text. */
export class JsonError extends HarnessError {
  static override readonly brand = "JsonError";
  declare readonly code: JsonProblem["code"];
  readonly path: string;

  constructor({ code, path, message, cause }: JsonProblem) {
    super(code, message, { cause });
    this.path = path;
  }
}

/** What a value measures as JSON. */
export interface JsonSize {
  /** About how many characters its text has: escapes are not counted. No more than bytes in UTF-8. */
  readonly length: number;
  /** Values in it, itself included. */
  readonly nodes: number;
}

const walked = (value: unknown, options: JsonWalkOptions) => {
  const { result, problem } = walkJson(value, options);
  if (problem) throw new JsonError(problem);
  return result;
};

/**
 * A copy that shares nothing with the value: each field is read once, keys `__proto__` and undefined properties are left
 * out. Throws {@link JsonError} (`not_json`, `too_deep`, `too_large`).
 */
export const copyJson = <T extends JsonValue = JsonValue>(
  value: unknown,
  options: JsonBounds & { readonly freeze?: boolean } = {},
): T => walked(value, { ...options, copy: true }).value as T;

/** Measures a value. Throws {@link JsonError} (`not_json`, `too_deep`, `too_large`). */
export const measureJson = (value: unknown, bounds: JsonBounds = {}): JsonSize => walked(value, bounds);

/** Freezes a value at any depth and returns it. Throws {@link JsonError} (`not_json`, `too_deep`, `too_large`). */
export const freezeJson = <T>(value: T, bounds: JsonBounds = {}): T =>
  walked(value, { ...bounds, freeze: true }).value as T;

/** Why a value is not JSON within the bounds; undefined where it is. Never throws. */
export const jsonProblem = (value: unknown, bounds: JsonBounds = {}): JsonProblem | undefined =>
  walkJson(value, bounds).problem;

/** An object type whose members that may be undefined are optional instead; a member of the type unknown stays as it is. */
export type Defined<T> = {
  [Key in keyof T as unknown extends T[Key] ? never : undefined extends T[Key] ? Key : never]?: Exclude<
    T[Key],
    undefined
  >;
} & {
  [Key in keyof T as unknown extends T[Key] ? Key : undefined extends T[Key] ? never : Key]: T[Key];
};

/** A copy of an object without the members that are undefined: JSON has no such value. */
export const defined = <T extends object>(object: T): Defined<T> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>;
