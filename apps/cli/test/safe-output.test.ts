import { describe, expect, it } from "vitest";
import { createTerminal } from "../src/terminal/terminal.ts";
import { safeJson } from "../src/terminal/text.ts";
import { FakeTerminal } from "./support/fake-terminal.ts";

describe("what a command writes", () => {
  it("says nothing to the terminal but line ends, tabs and its own styles, and leaves JSON as it is", () => {
    const written: string[] = [];
    const stream = { isTTY: true, columns: 80, write: (text: string) => written.push(text) };
    const terminal = createTerminal(stream as unknown as NodeJS.WriteStream, {});
    const bold = terminal.style.bold("a\tb\n");
    terminal.write(`${bold}\u001b[2J\u001b[8m\u001b]0;title\u0007\u202e\u200b 👩‍💻 \rx\r\n`);
    const json = safeJson({ text: "\u00a0\u3164\u202e\u001b[2J 👩‍💻" });
    terminal.write(json);
    expect(written).toEqual([
      `\u001b[1ma\tb\n\u001b[22m⟨U+001B⟩[2J⟨U+001B⟩[8m⟨U+001B⟩]0;title⟨U+0007⟩⟨U+202E⟩⟨U+200B⟩ 👩‍💻 ⟨U+000D⟩x\r\n`,
      json,
    ]);
  });

  it("has no colour but its own: what a model colours is shown, inside a style too", () => {
    const terminal = new FakeTerminal(80, true);
    const said = "done \u001b[32m✓\u001b[39m \u001b[1m";
    terminal.say([said, terminal.style.dim(said), terminal.style.dim(terminal.style.red("x"))]);
    const shown = "done ⟨U+001B⟩[32m✓⟨U+001B⟩[39m ⟨U+001B⟩[1m";
    expect(terminal.text).toBe(
      `${shown}\n\u001b[2m${shown}\u001b[22m\n\u001b[2m\u001b[31mx\u001b[39m\u001b[22m\n`,
    );
  });

  it("leaves no style on behind a line that is cut, and shows none where there is no colour", () => {
    const coloured = new FakeTerminal(undefined, true);
    const { red } = coloured.style;
    coloured.say(red("x".repeat(5_000)));
    expect(coloured.text.replace(/x{3000,4000}/, "x")).toBe("\u001b[31mx…\u001b[0m\n");
    const plain = new FakeTerminal();
    plain.say(red("x"));
    expect(plain.text).toBe("x\n");
  });

  it("counts the columns of what it shows", () => {
    const terminal = new FakeTerminal(20);
    expect(terminal.say(["a \u001b \u001b \u001b", "b"])).toBe(3);
    expect(terminal.text).toBe("a ⟨U+001B⟩ ⟨U+001B⟩\n⟨U+001B⟩\nb\n");
  });
});
