import { BoundedMap } from "@harnesskit/wire";
import { RE2JS } from "re2js";
import { RuleError } from "../policy-error.ts";

/** Compiled patterns that are kept. Patterns may come from events. */
const maxCached = 512;
const maxPatternLength = 1000;

const compilePattern = (pattern: string): RE2JS => {
  if (pattern.length > maxPatternLength) {
    throw new RuleError("policy_expression_failed", `a pattern has at most ${maxPatternLength} characters`);
  }
  try {
    return RE2JS.compile(pattern);
  } catch (cause) {
    throw new RuleError("policy_expression_failed", "not a regular expression of RE2", { cause });
  }
};

/** Tests a string against a regular expression of RE2. Throws {@link RuleError}. */
export type Matches = (text: string, pattern: string) => boolean;

/**
 * Makes the test of a string against a regular expression of RE2, in linear time: the CEL library uses JavaScript's
 * engine, which an event can keep busy for hours. The test throws `policy_expression_failed` for a pattern that is not valid.
 */
export const createPatterns = (): Matches => {
  const compiled = new BoundedMap<string, RE2JS>({ maxSize: maxCached });
  return (text, pattern) => {
    const known = compiled.get(pattern);
    if (known) return known.test(text);
    const made = compilePattern(pattern);
    compiled.set(pattern, made);
    return made.test(text);
  };
};
