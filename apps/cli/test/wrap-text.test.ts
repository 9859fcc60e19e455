import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import stringWidth from "fast-string-width";
import { describe, expect, it } from "vitest";
import { createStyle } from "../src/terminal/style.ts";
import { wrapText } from "../src/terminal/text.ts";

const style = createStyle(true);
const widths = (text: string) => text.split("\n").map((line) => stringWidth(line));

describe("text on a narrow terminal", () => {
  it("breaks between words, and further lines stand below the first", () => {
    const line = `  ${style.yellow("⊘")} blocked: this would destroy something: rm deletes folders (rule x)`;
    expect(stripVTControlCharacters(wrapText(line, 40))).toBe(
      "  ⊘ blocked: this would destroy\n    something: rm deletes folders (rule\n    x)",
    );
  });

  it("counts wide characters as two columns", () => {
    const text = wrapText("漢字 ".repeat(20).trim(), 40);
    expect(Math.max(...widths(text))).toBeLessThanOrEqual(40);
    expect(text.replaceAll("\n", " ")).toBe("漢字 ".repeat(20).trim());
  });

  it("leaves a path whole that is longer than a line", () => {
    const path = `/home/me/${"x".repeat(60)}`;
    expect(wrapText(`  log: ${path}`, 40)).toBe(`  log:\n  ${path}`);
  });

  it("shows what follows a bar exactly, with a mark before what is no new line", () => {
    const command = `echo "a   b"  ${"y".repeat(50)}   c`;
    const lines = wrapText(`  ${style.dim("│")} ${command}`, 40).split("\n");
    const shown = lines.map((line) => stripVTControlCharacters(line));
    expect(shown[0]).toMatch(/^ {2}│ /);
    for (const line of shown.slice(1)) expect(line).toMatch(/^ {2}┆ /);
    expect(shown.map((line) => line.slice(4)).join("")).toBe(command);
  });

  it("changes nothing without a terminal, and nothing that fits", () => {
    const text = "x ".repeat(200);
    expect(wrapText(text, undefined)).toBe(text);
    expect(wrapText("short\nlines", 40)).toBe("short\nlines");
  });

  it("keeps every word in its order and stays within the columns, whatever the words are", () => {
    const word = fc.stringMatching(/^[a-zA-Z漢字😀]{1,15}$/u);
    fc.assert(
      fc.property(fc.array(word, { maxLength: 40 }), fc.integer({ min: 40, max: 100 }), (words, columns) => {
        const text = wrapText(words.join(" "), columns);
        expect(text.split(/\s/).filter((part) => part !== "")).toEqual(words);
        expect(Math.max(...widths(text))).toBeLessThanOrEqual(columns);
      }),
    );
  });
});
