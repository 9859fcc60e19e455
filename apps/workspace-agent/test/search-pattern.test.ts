import { spawnSync } from "node:child_process";
import { ToolError } from "@harnesskit/agent-sdk";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileSearchPattern } from "../src/search-pattern.ts";

const lineParts = [
  "a",
  "b",
  "A",
  "é",
  "ß",
  "٣",
  "7",
  "_",
  " ",
  "\t",
  "-",
  "]",
  "[",
  "{",
  "\u00a0",
  "\u2028",
  "😀",
  "/",
  "\r",
  "\ufffd",
];
const terms = [
  ...[
    "a",
    "b",
    ".",
    "\\d",
    "\\D",
    "\\w",
    "\\W",
    "\\s",
    "\\S",
    "\\b",
    "^",
    "$",
    "|",
    "é",
    "😀",
    "{",
    "\\{",
    "\\/",
    "(",
    ")",
    ")?",
  ],
  ...[
    "[a-c]",
    "[^a]",
    "[\\w-]",
    "[^\\W_]",
    "[]a]",
    "[\\d\\S]",
    "\\p{Lu}",
    "\\P{L}",
    "\\x41",
    "\\u{1F600}",
    "(?:a|b)",
  ],
  ...["a*", "b+?", ".{2}", "\\w{1,2}", "(a|é)?", "[^\\s\\p{L}]", "\\-", "\\ ", "-", "_"],
];

function whyRefused(pattern: string): unknown {
  try {
    compileSearchPattern(pattern);
    return undefined;
  } catch (error) {
    return error;
  }
}

describe("a search pattern", () => {
  it("means the same to ripgrep and to JavaScript", () => {
    const lines = fc.array(fc.array(fc.constantFrom(...lineParts), { maxLength: 8 }), {
      minLength: 1,
      maxLength: 30,
    });
    const patterns = fc
      .array(fc.constantFrom(...terms), { minLength: 1, maxLength: 7 })
      .map((pieces) => pieces.join(""))
      .filter((pattern) => !ToolError.isInstance(whyRefused(pattern)));
    fc.assert(
      fc.property(
        lines,
        patterns,
        fc.boolean(),
        fc.boolean(),
        fc.boolean(),
        (parts, pattern, ignoreCase, crlf, isUtf8) => {
          const texts = parts.map((part) => part.join(""));
          const compiled = compileSearchPattern((ignoreCase ? "(?i)" : "") + pattern);
          fc.pre(compiled.ripgrep !== undefined);
          const expression = new RegExp(compiled.source, compiled.flags);
          const options = [
            "--no-config",
            "--text",
            "--crlf",
            "--no-filename",
            "-n",
            "--max-columns=1",
            "-e",
            compiled.ripgrep,
            "-",
          ];
          const input = Buffer.from(texts.map((text) => text + (crlf ? "\r\n" : "\n")).join(""));
          // What was read as U+FFFD may be that, or a byte that is no UTF-8.
          const bytes = isUtf8
            ? input
            : Buffer.from(input.toString("latin1").replaceAll("\xef\xbf\xbd", "\xe9"), "latin1");
          const { stdout, status } = spawnSync("rg", options, { input: bytes, encoding: "utf8" });
          expect(status).toBeLessThan(2);
          const numbers = stdout
            .split("\n")
            .filter((line) => line !== "")
            .map((line) => Number.parseInt(line, 10));
          const expected = texts.flatMap((text, index) => (expression.test(text) ? [index + 1] : []));
          expect(numbers).toEqual(expect.arrayContaining(expected));
          // Where there is a CR within a line, ripgrep may start and end one, and it tells U+FFFD from others: such lines are looked at once more.
          const wrong = numbers.filter((number) => !expected.includes(number));
          expect(wrong.filter((number) => !/[\r\ufffd]/.test(texts[number - 1] ?? ""))).toEqual([]);
        },
      ),
      { numRuns: 100 },
    );
  });

  it("compiles or is refused, whatever it is", () => {
    const hostile = fc.oneof(
      fc.string({ unit: "binary", maxLength: 40 }),
      fc.string({ unit: fc.constantFrom(..."()[]{}|*+?.^$\\-,:=<>!1aPpuxk"), maxLength: 25 }),
    );
    fc.assert(
      fc.property(hostile, (pattern) => {
        try {
          const compiled = compileSearchPattern(pattern);
          expect(new RegExp(compiled.source, compiled.flags)).toBeInstanceOf(RegExp);
        } catch (error) {
          expect(ToolError.isInstance(error) && error.code).toBe("tool.invalid_input");
        }
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ["a brace that repeats nothing", "function f() {".replace("()", "\\(\\)"), "function f() {"],
    ["a closing brace and bracket", "}]", "}]"],
    ["a slash that is escaped", "a\\/b", "a/b"],
    ["a named group", "(?P<x>a)(?<y>b)", "ab"],
    ["a class with an opening bracket", "[[a]b", "[b"],
    ["two ampersands in a class", "[a&&b]c", "&c"],
    ["a leading case flag", "(?i)ABC", "abc"],
    ["counts up to the limit", "(?:a{10}){100}", "a".repeat(1000)],
  ])("may have %s", (_, pattern, text) => {
    const compiled = compileSearchPattern(pattern);
    expect(new RegExp(compiled.source, compiled.flags).test(text)).toBe(true);
    const forRipgrep = compiled.ripgrep ?? expect.fail("it is left to JavaScript");
    const { status } = spawnSync("rg", ["--no-config", "-q", "-e", forRipgrep, "-"], {
      input: `${text}\n`,
    });
    expect(status).toBe(0);
  });

  it.each([
    ["$\\b", false],
    ["$^a*", false],
    ["(a|b$)\\b", false],
    ["(?:\\b$){2}", false],
    ["(a$|b)|^c", true],
    ["a$|\\bb$", true],
    ["((a|b)c?$)", true],
  ])("is left to JavaScript where something comes after an end: %s", (pattern, forRipgrep) => {
    expect(compileSearchPattern(pattern).ripgrep !== undefined).toBe(forRipgrep);
  });

  it.each([
    ["(?:a{10}){101}", "1000 times"],
    ["a{1001}", "1000 times"],
    ["(?<!a)b", "lookaround"],
    ["a(?i)b", "inline flags"],
    ["\\k<x>", "back-reference"],
    ["a\\B", "\\B"],
    ["[z-a]", "range"],
    ["[\\w-z]", "range"],
    [`${"(".repeat(60)}a${")".repeat(60)}`, "nested"],
    ["", "empty"],
    ["x".repeat(1001), "1000 characters"],
    ["a\\r", "line end"],
    ["[a\\x0d]", "line end"],
    ["[a\\n]", "line end"],
    ["a\ufffd", "U+FFFD"],
    ["[a\\ufffd]", "U+FFFD"],
  ])("is refused with the reason: %s", (pattern, reason) => {
    const thrown = whyRefused(pattern);
    expect(thrown).toMatchObject({ name: "ToolError", code: "tool.invalid_input" });
    expect((thrown as ToolError).message).toContain(reason);
  });
});
