import type { ParsedRequest } from "./instruction.ts";
import { maxInstructions, maxRequestChars } from "./limits.ts";
import { parseClause } from "./parse-clause.ts";
import { splitRequest } from "./split-request.ts";

/**
 * Parses a request in plain English into instructions, in order. Never throws. What is not understood becomes an
 * instruction of kind `unknown` with its own words; at most `maxInstructions` are returned, the others are counted.
 * A text that is longer than `maxRequestChars` is not parsed at all, because half a request is another request.
 */
export function parseInstructions(text: string): ParsedRequest {
  if (text.length > maxRequestChars) return { instructions: [], leftOut: 0, tooLong: true };
  const all = splitRequest(text).flatMap((clause) => parseClause(clause));
  return {
    instructions: all.slice(0, maxInstructions),
    leftOut: Math.max(0, all.length - maxInstructions),
    tooLong: false,
  };
}
