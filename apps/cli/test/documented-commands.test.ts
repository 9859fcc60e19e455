import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { createProgram } from "../src/program.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const program = createProgram("0.0.0");

/** Every command by its words: "ahp serve". A group's default command is also found by the words of the group. */
const commands = new Map<string, readonly Command[]>();
const visible = (command: Command): readonly Command[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== "help");
const add = (command: Command, words: readonly string[]): void => {
  for (const child of visible(command)) {
    const path = [...words, child.name()];
    commands.set(path.join(" "), [child, ...child.commands.filter((one) => /^(run|list)$/.test(one.name()))]);
    add(child, path);
  }
};
add(program, []);

const helpOf = (command: Command): string => {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text;
};

const markdown = (folder: string): readonly string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));
const readmes = (folder: string): readonly string[] =>
  readdirSync(join(root, folder))
    .map((name) => join(folder, name, "README.md"))
    .filter((file) => existsSync(join(root, file)));
const pages = [
  ...["", "docs"].flatMap(markdown),
  ...["packages", "apps", "apps/examples"].flatMap(readmes),
  ...["conformance/README.md", "bench/README.md"],
];

/** The options that a line gives to a `harness` command that does not have them, as "command option". */
const unknownOptions = (line: string): string[] =>
  [...line.matchAll(/(?:^|[`$(] ?)harness ((?:[a-z]+ )+)([^`|#]*)/g)].flatMap(([, named = "", rest = ""]) => {
    const words = named.trim().split(" ");
    while (words.length > 0 && !commands.has(words.join(" "))) words.pop();
    const found = commands.get(words.join(" "));
    // What stands behind `--` belongs to another program, and conformance reads its own options.
    if (found === undefined || words[0] === "conformance") return [];
    const options = rest.replace(/(^| )-- .*/, "").match(/(?<=^| )--[a-z][a-z-]*/g) ?? [];
    const known = found.flatMap((command) => command.options.map(({ long }) => long));
    return options
      .filter((option) => option !== "--help" && !known.includes(option))
      .map((option) => `${words.join(" ")} ${option}`);
  });

describe("what is written about the command line", () => {
  it("shows an example in the help of every command", () => {
    const without = [...commands].filter(
      ([, [command]]) => command && !/Example:\n {2}\S/.test(helpOf(command)),
    );
    expect(without.map(([name]) => name)).toEqual([]);
  });

  it("names every command in the README", () => {
    const readme = readFileSync(join(root, "apps/cli/README.md"), "utf8");
    const named = [...readme.matchAll(/^\| `harness ([a-z]+)/gm)].map(([, name]) => name);
    expect(named.sort()).toEqual(
      visible(program)
        .map((command) => command.name())
        .sort(),
    );
  });

  it("gives commands only the options that they have", () => {
    const unknown = pages.flatMap((page) =>
      readFileSync(join(root, page), "utf8")
        .split("\n")
        .flatMap((line, index) => unknownOptions(line).map((found) => `${page}:${index + 1} ${found}`)),
    );
    expect(unknown).toEqual([]);
  });
});
