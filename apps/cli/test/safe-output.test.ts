import { describe, expect, it } from "vitest";
import { createTerminal } from "../src/terminal/terminal.ts";
import { safeJson } from "../src/terminal/text.ts";

describe("what a command writes", () => {
  it("says nothing to the terminal but line ends, tabs and its own styles, and leaves JSON as it is", () => {
    const written: string[] = [];
    const stream = { isTTY: true, columns: 80, write: (text: string) => written.push(text) };
    const terminal = createTerminal(stream as unknown as NodeJS.WriteStream, {});
    const styled = terminal.style.bold("a\tb\n");
    terminal.write(`${styled}\u001b[2J\u001b[8m\u001b]0;title\u0007\u202e\u200b 👩‍💻 \rx\r\n`);
    const json = safeJson({ text: "\u00a0\u3164\u202e\u001b[2J 👩‍💻" });
    terminal.write(json);
    expect(written).toEqual([
      `${styled}⟨U+001B⟩[2J⟨U+001B⟩[8m⟨U+001B⟩]0;title⟨U+0007⟩⟨U+202E⟩⟨U+200B⟩ 👩‍💻 ⟨U+000D⟩x\r\n`,
      json,
    ]);
  });
});
