import type { JsonObject } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "@harnesskit/wire";

/** What JSON writes of a number, a literal, or a key's and an entry's punctuation at the most. */
const scalarBytes = 26;
/** A UTF-16 unit is at most `\uXXXX`. */
const bytesPerUnit = 6;

/**
 * What is left of `budget` bytes once the value is written as JSON, at the least; below zero when it may not fit, nests
 * deeper than `maxDepth` or is nothing that only JSON's own rules can write (a class instance, a bigint).
 */
export const budgetAfter = (value: unknown, budget: number, maxDepth: number): number => {
  if (typeof value === "string") return budget - bytesPerUnit * value.length - 2;
  if (typeof value !== "object" || value === null)
    return typeof value === "bigint" ? -1 : budget - scalarBytes;
  if (maxDepth === 0) return -1;
  let left = budget - 2;
  if (Array.isArray(value)) {
    for (const entry of value) {
      left = budgetAfter(entry, left - 1, maxDepth - 1);
      if (left < 0) return -1;
    }
    return left;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return -1;
  const record = value as Record<string, unknown>;
  if (typeof record.toJSON === "function") return -1;
  for (const key in record) {
    left = budgetAfter(record[key], left - bytesPerUnit * key.length - 4, maxDepth - 1);
    if (left < 0) return -1;
  }
  return left;
};

/** Whether objects and arrays nest deeper than `maxDepth`. */
const isDeeper = (value: unknown, maxDepth: number): boolean => {
  if (typeof value !== "object" || value === null) return false;
  if (maxDepth === 0) return true;
  return Object.values(value).some((entry) => isDeeper(entry, maxDepth - 1));
};

/** A value as JSON has it. */
export interface WrittenJson {
  readonly text: string;
  /** In UTF-8. */
  readonly bytes: number;
  /** A copy that shares nothing with the value. */
  readonly copy: unknown;
}

/** Writes a value as JSON. Throws `invalid_argument` for what has no JSON or nests deeper than `maxDepth`. */
export const writeJson = (value: unknown, maxDepth: number): WrittenJson => {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new InvalidArgumentError("the value has no JSON form", { cause });
  }
  if (text === undefined) throw new InvalidArgumentError("the value has no JSON form");
  const copy: unknown = JSON.parse(text);
  if (isDeeper(copy, maxDepth))
    throw new InvalidArgumentError(`the value nests deeper than ${maxDepth} levels`);
  return { text, bytes: Buffer.byteLength(text), copy };
};

/** True for what JSON calls an object. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
