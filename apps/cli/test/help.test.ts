import stringWidth from "fast-string-width";
import { describe, expect, it } from "vitest";
import { createProgram } from "../src/program.ts";
import { wrapPage } from "../src/terminal/text.ts";
import { binPath, failure, makeWorkspace, startProgram } from "./support/harness.ts";
import { harness, type Line, startAtTerminal } from "./support/in-process.ts";

const helpAt = async (line: Line, columns: number): Promise<string> => {
  const end = await startAtTerminal(line, { cwd: await makeWorkspace(), columns }).ended;
  expect(end.code).toBe(0);
  return end.stdout.replaceAll("\r", "");
};

describe("help at a terminal", () => {
  it.each([60, 120])("has a column for what options mean, of %i columns", async (columns) => {
    const shown = await helpAt("run --help", columns);
    const options = shown.slice(shown.indexOf("Options:"), shown.indexOf("Example:")).trimEnd().split("\n");
    for (const line of options.slice(1)) expect(line).toMatch(/^ {2}(?:-.{26}|\s{26}) {0,2}\S/);
    expect(Math.max(...options.map((line) => stringWidth(line)))).toBeLessThanOrEqual(Math.min(columns, 100));
  });

  it("breaks its paragraphs where the terminal ends, and no command of an example", async () => {
    const shown = await helpAt("run --help", 60);
    expect(shown).toContain('\n  harness run --continue "and now the tests of @src/server.ts"\n');
    const prose = shown.slice(shown.indexOf("An @PATH")).trim().split("\n");
    expect(Math.max(...prose.map(({ length }) => length))).toBeLessThanOrEqual(60);
    // Only the last line of a paragraph is short.
    expect(prose.slice(0, -1).filter(({ length }) => length < 45)).toEqual([]);
  });

  it("of the conformance suites has its columns too", async () => {
    const shown = await helpAt("conformance --help", 60);
    expect(shown).toContain(
      "  --seed N              repeat a run with the same random\n                        values\n",
    );
  });

  it("begins with what a new user calls first", () => {
    const names = createProgram("1.2.3").commands.map((command) => command.name());
    expect(names.slice(0, 3)).toEqual(["run", "chat", "threads"]);
  });

  it("the first screen fits into 60 columns, in its columns", async () => {
    expect(await helpAt([], 60)).toContain(`
  harness run "describe this repository"   give it a task
  harness chat                             talk with it
  harness doctor                           find problems
`);
  });
});

describe("wrapPage", () => {
  it("leaves a term whole that leaves no room for what it means", () => {
    const line = "  harness hub --a-very-long-option-name   what it does, in many words";
    expect(wrapPage(line, 50)).toBe(line);
  });

  it("joins what was broken for another width", () => {
    expect(wrapPage("one\ntwo\n\n  a   b\n                      c\nthree", 80)).toBe(
      "one two\n\n  a   b c\nthree",
    );
  });
});

describe("the exit code of help", () => {
  it.each([
    [0, "help"],
    [0, "help run"],
    [0, "help threads list"],
    [0, "threads help list"],
    [2, "audit"],
  ])("%i: harness %s, as a process", async (code, line) => {
    const cwd = await makeWorkspace();
    const end = await startProgram(process.execPath, [binPath, ...line.split(" ")], { cwd, input: "" }).ended;
    expect(end).toMatchObject({ code });
    expect(end[code === 0 ? "stdout" : "stderr"]).toContain("Usage: harness");
  });

  it.each(["help nope", "nope --help", "threads nope --help", "help threads nope", "core nope --help"])(
    "2, and which command there is not: harness %s",
    async (line) => {
      const end = await harness(line, { cwd: await makeWorkspace() });
      expect(end).toMatchObject({ ...failure(2, "harness: unknown command 'nope'"), stdout: "" });
    },
  );
});
