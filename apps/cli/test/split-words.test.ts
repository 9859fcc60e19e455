import { describe, expect, it } from "vitest";
import { splitWords } from "../src/split-words.ts";

describe("the words of a command", () => {
  it.each([
    ["", []],
    ["  python3   harness.py ", ["python3", "harness.py"]],
    [`a "b c" 'd "e'`, ["a", "b c", 'd "e']],
    [`a\\ b "c\\"d\\e" 'f\\g'`, ["a b", 'c"d\\e', "f\\g"]],
    [`--x="1 2"'3'\\'4`, ["--x=1 23'4"]],
    [`'' ""`, ["", ""]],
    ["$HOME `ls` *", ["$HOME", "`ls`", "*"]],
  ])("of %j", (text, words) => {
    expect(splitWords(text, "--to")).toEqual(words);
  });

  it.each(["'a", 'b "c', "d\\"])("have no end in %j", (text) => {
    expect(() => splitWords(text, "--to")).toThrow(expect.objectContaining({ code: "usage", exitCode: 2 }));
  });
});
