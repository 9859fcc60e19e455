import { spawnSync } from "node:child_process";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { createProgram } from "../src/program.ts";
import { failure } from "./support/harness.ts";
import { harness } from "./support/in-process.ts";

const program = createProgram("0.0.0");

/** What is offered for the last word of a line. */
const candidates = async (line: string): Promise<string[]> => {
  const script = (await harness(["completion", "bash"], { cwd: "/" })).stdout;
  const [, command = ""] = /-C 'harness ([^']*)'/.exec(script) ?? [];
  const [before = "harness", word = ""] = ["harness", ...line.split(" ")].slice(-2);
  // As bash gives them: the word that is completed, and the one before it.
  const end = await harness([...command.split(" "), "harness", word, before], {
    cwd: "/",
    env: { COMP_LINE: `harness ${line}` },
  });
  expect(end).toMatchObject({ code: 0, stderr: "" });
  return end.stdout.split("\n").filter((word) => word !== "");
};

/** The commands and options that `--help` shows, read from its text. */
const shown = (help: string, part: "Commands" | "Options"): string[] => {
  const [, lines = ""] = new RegExp(`^${part}:\n((?: .*\n?)+)`, "m").exec(help) ?? [];
  const entries = [...lines.matchAll(/^ {2}(\S.*?)(?: {2,}|$)/gm)].map(([, entry = ""]) => entry);
  if (part === "Commands") return entries.map((entry) => entry.replace(/[| ].*/, ""));
  return entries.flatMap((entry) => entry.match(/(?<=^|, )--?[\w-]+/g) ?? []);
};

describe("harness complete", () => {
  it("offers every command and every option that --help shows", async () => {
    const paths: string[][] = [[]];
    for (const path of paths) {
      const command = path.reduce<Command>(
        (at, name) => at.commands.find((one) => one.name() === name) ?? at,
        program,
      );
      const help = command.createHelp().formatHelp(command, command.createHelp());
      expect(await candidates([...path, "-"].join(" "))).toEqual(shown(help, "Options"));
      if (command.commands.length === 0) continue;
      const names = shown(help, "Commands");
      expect(await candidates([...path, ""].join(" "))).toEqual(names);
      paths.push(...names.filter((name) => name !== "help").map((name) => [...path, name]));
    }
    expect(paths.map((path) => path.join(" "))).toEqual(
      expect.arrayContaining(["run", "ahp serve", "threads prune", "completion"]),
    );
  });

  it.each([
    ["thr", ["threads"]],
    ["run --appr", ["--approve"]],
    ["run --approve ", ["ask", "once", "reject"]],
    ["run --approve=o", ["once"]],
    ["completion z", ["zsh"]],
    ["run --thread ", []],
    ["run --help", ["--help"]],
    ["threads --help ar", ["archive"]],
    ["--version thr", ["threads"]],
    ["run --policy $(touch", []],
  ])("offers for %j", async (line, words) => {
    expect(await candidates(line)).toEqual(words);
  });
});

describe("harness completion", () => {
  it.each(["bash", "zsh", "fish"])("prints what %s reads", async (shell) => {
    const { code, stdout } = await harness(["completion", shell], { cwd: "/" });
    expect(code).toBe(0);
    // Checked where the shell is installed.
    const { error, status, stderr } = spawnSync(shell, ["-n"], { input: stdout, encoding: "utf8" });
    if (error === undefined) expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });

  it("refuses another shell with exit code 2", async () => {
    expect(await harness(["completion", "tcsh"], { cwd: "/" })).toMatchObject(
      failure(2, "Allowed choices are bash, zsh, fish"),
    );
  });
});
