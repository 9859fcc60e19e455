import { RE2JS } from "re2js";
import { RuleError } from "../policy-error.ts";

/** Patterns that are kept compiled; patterns may be made from events, so they are forgotten all at once. */
const maxCached = 512;
const maxPatternLength = 1000;

/**
 * Regular expressions as CEL has them, RE2's, whose time is linear to the text: CEL's own library uses JavaScript's,
 * which an event can make run for hours.
 */
export class Patterns {
  readonly #compiled = new Map<string, RE2JS>();

  /** Throws `policy_expression_failed` for what is no pattern, or is longer than 1000 characters. */
  test(text: string, pattern: string): boolean {
    return this.compile(pattern).test(text);
  }

  compile(pattern: string): RE2JS {
    const known = this.#compiled.get(pattern);
    if (known) return known;
    if (pattern.length > maxPatternLength) {
      throw new RuleError("policy_expression_failed", `a pattern has at most ${maxPatternLength} characters`);
    }
    const compiled = compilePattern(pattern);
    if (this.#compiled.size >= maxCached) this.#compiled.clear();
    this.#compiled.set(pattern, compiled);
    return compiled;
  }
}

const compilePattern = (pattern: string): RE2JS => {
  try {
    return RE2JS.compile(pattern);
  } catch (cause) {
    throw new RuleError("policy_expression_failed", "not a regular expression of RE2", { cause });
  }
};
