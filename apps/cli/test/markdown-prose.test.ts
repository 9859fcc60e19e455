import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { MarkdownProse } from "../src/terminal/markdown-prose.ts";
import { FakeTerminal } from "./support/fake-terminal.ts";

const shown = (pieces: readonly string[], columns = 60, isColoured = false): string => {
  const terminal = new FakeTerminal(columns, isColoured);
  const prose = new MarkdownProse(terminal, (text) => text);
  for (const piece of pieces) prose.push(piece);
  prose.end();
  return terminal.text;
};

const answer = [
  "## What I found",
  "",
  "The **price** is wrong in `price.js`, see [the docs](https://example.com/a) and https://example.com.",
  "Second line.",
  "",
  "1. read *it*",
  "2. change it",
  "   - with care",
  "",
  "```sh",
  "rm -rf build",
  "```",
  "",
  "| file | lines |",
  "|---|--:|",
  "| a.js | 12 |",
  "",
  "> quoted",
  "",
  "- [x] done",
].join("\n");

describe("Markdown at a terminal", () => {
  it("is rendered without its marks, and a link says where it leads", () => {
    expect(shown([answer], 100)).toBe(
      [
        "## What I found",
        "",
        "The price is wrong in `price.js`, see the docs (https://example.com/a) and https://example.com.",
        "Second line.",
        "",
        "1. read it",
        "2. change it",
        "   • with care",
        "",
        "│ rm -rf build",
        "",
        "file  lines",
        "────  ─────",
        "a.js     12",
        "",
        "┃ quoted",
        "",
        "• ☑ done",
      ].join("\n"),
    );
    expect(shown(["# Title\n\n**bold** `code`"], 60, true)).toBe(
      "\u001b[1mTitle\u001b[22m\n\n\u001b[1mbold\u001b[22m \u001b[36mcode\u001b[39m",
    );
  });

  it("streams words of a paragraph, items of a list and lines of code as they come", () => {
    const terminal = new FakeTerminal(60);
    const prose = new MarkdownProse(terminal, (text) => text);
    const after = (delta: string) => {
      prose.push(delta);
      return terminal.text;
    };
    expect(after("I read the fi")).toBe("I read the");
    expect(after("le **and ")).toBe("I read the file");
    expect(after("found** it. ")).toBe("I read the file and found it.");
    expect(after("\n\n- one\n- tw")).toContain("• one");
    expect(after("o\n\n```\nlet a;\nle")).toMatch(/• two\n\n│ let a;$/);
    prose.push("t b;\n```\nend");
    expect(prose.end()).toBe(true);
    expect(terminal.text).toMatch(/│ let b;\nend$/);
  });

  const piece = fc.constantFrom(
    ..."a b|c|**|*|_|`|```|~~|[x](|)|<b>|# |- |1. |> |\n|\n\n|\u001b[2J|\u202e|&amp;|https://e.x/|\\|é|👩‍👩‍👧".split(
      "|",
    ),
    "| a |\n|--|\n",
    " ",
  );

  it("hides nothing, loses no letter and ends, whatever comes in whatever pieces", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = shown(pieces).replaceAll("👩‍👩‍👧", "");
        expect(text).not.toMatch(/[^\n\P{Cc}]|[\p{Cf}\p{Zl}\p{Zp}]/u);
        const count = (given: string) => given.split("é").length;
        expect(count(text)).toBeGreaterThanOrEqual(count(pieces.join("")));
      }),
      { numRuns: runs(60) },
    );
  });

  it("keeps the rows of a table whose head began as a paragraph", () => {
    expect(shown(["a b", "\\", "| a |\n|--|\n", "é"])).toBe("a b| a\n──────\né");
  });

  it("is the same however it comes", () => {
    const text = [
      "Some *words* with `snake_case` and **bold\nover** lines that are long enough to be wrapped, surely.",
      "1. Do this:\n\n   ```sh\n   npm i\n   ```\n\n2. Then **that** too:\n   - nested",
      "> one\n>\n> two",
      answer,
    ].join("\n\n");
    for (const isColoured of [false, true])
      expect(shown([...text], 40, isColoured)).toBe(shown([text], 40, isColoured));
  });

  it("keeps code that is long as code", () => {
    const code = `\`\`\`js\n${"let a;\n".repeat(8_000)}`;
    const pieces = code.match(/[\s\S]{1,700}/g) ?? [];
    expect(new Set(shown(pieces).split("\n"))).toEqual(new Set(["js", "│ let a;"]));
    expect(shown(pieces).match(/let a;/g)).toHaveLength(8_000);
  });

  it("shows what is nested deeper than a parser can follow", () => {
    expect(shown([`${"> ".repeat(8_000)}end`])).toMatch(/end$/);
  });

  it("that comes at once has any number of lines", () => {
    const code = `\`\`\`\n${"a\n".repeat(200_000)}\`\`\``;
    expect(shown([code]).match(/│ a/g)).toHaveLength(200_000);
  });

  it("that is slow to read is read a few times only, however it comes", () => {
    const pieces = Array.from({ length: 480 }, () => "> ".repeat(20));
    let nowMs = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (nowMs += 100));
    onTestFinished(() => clock.mockRestore());
    shown(pieces);
    // Each reading looks at the clock before and after: one for each piece of the first 2,000 characters, then after twice as many.
    expect(clock.mock.calls.length / 2).toBeLessThan(56);
  });

  it("shows what has no end as it is", () => {
    const text = `| ${"cell ".repeat(5_000)}`;
    expect(shown([text]).replaceAll(/\s+/g, " ")).toBe(text.trim());
  });
});
