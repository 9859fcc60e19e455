import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withoutSecretShapes } from "../src/index.ts";

/** How a token begins, of which characters it goes on, and how many are enough. */
const tokens = [
  ["ghp_", "aZ9", 16],
  ["github_pat_", "aZ9_", 16],
  ["glpat-", "aZ9_-", 12],
  ["xoxb-", "aZ9_-", 8],
  ["xapp-", "aZ9_-", 8],
  ["AIza", "aZ9_-", 24],
  ["ya29.", "aZ9_.-", 12],
  ["npm_", "aZ9", 24],
  ["pypi-", "aZ9_-", 24],
  ["hf_", "aZ9", 20],
  ["dop_v1_", "af09", 24],
  ["SG.", "aZ9_-", 12],
  ["eyJ", "aZ9_-", 10],
  ["sk-", "aZ9_-", 12],
  ["pk_", "aZ9_-", 12],
  ["AKIA", "AZ09", 16],
] as const;

const charactersOf = (alphabet: string, constraints: fc.StringConstraints) =>
  fc.string({ unit: fc.constantFrom(...alphabet), ...constraints });

describe("the shapes of secrets", () => {
  it.each(tokens)("%s… is found from its shortest on, alone and beside others", (start, alphabet, length) => {
    const beside = charactersOf("aZ9_./,-", { maxLength: 8 });
    const rest = charactersOf(alphabet, { minLength: length, maxLength: length });
    fc.assert(
      fc.property(fc.constantFrom("", "."), beside, rest, (border, end, value) => {
        const token = `${start}${value}`;
        expect(withoutSecretShapes(token)).toBe("[redacted]");
        expect(withoutSecretShapes(`${border}${token},${end}`)).not.toContain(token);
      }),
    );
  });

  it("are the same ones in a plain name as in a text of several lines", () => {
    const starts = fc.constantFrom(...tokens.map(([start]) => start), "", "task-", "xox", "AROA", "rk_");
    const rest = charactersOf("aAZ09_./,-", { maxLength: 30 });
    fc.assert(
      fc.property(rest, starts, rest, (before, start, behind) => {
        const text = `${before}${start}${behind}`;
        expect(withoutSecretShapes(`\n${text}`)).toBe(`\n${withoutSecretShapes(text)}`);
      }),
      { numRuns: 1000 },
    );
  });
});
