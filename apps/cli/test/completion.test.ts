import { spawnSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { completionScripts } from "../src/completion/completion-scripts.ts";
import { completionLines } from "../src/completion/completions.ts";
import { createProgram } from "../src/program.ts";
import { binPath, makeWorkspace, startProgram } from "./support/harness.ts";
import { harness } from "./support/in-process.ts";

const program = createProgram({ binPath: "harness", version: "0.0.0", onExit: () => {} });

/** The candidates for the last of the words. */
const candidates = (...words: string[]): string[] =>
  completionLines(program, words)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.replace(/\t.*/, ""));

/** What bash offers for the last of the words. */
const completed = async (cwd: string, ...words: string[]): Promise<string[]> => {
  const script = `harness() { ${process.execPath} ${binPath} "$@"; }
${completionScripts.bash}
COMP_WORDS=(harness "$@"); COMP_CWORD=$#; _harness; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const run = startProgram("bash", ["--norc", "-c", script, "bash", ...words], { cwd, input: "" });
  const { code, stdout, stderr } = await run.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.split("\n").filter((word) => word !== "");
};

/** The commands and options that `--help` shows, read from its text. */
const shown = (help: string, part: "Commands" | "Options"): string[] => {
  const [, lines = ""] = new RegExp(`^${part}:\n((?: .*\n?)+)`, "m").exec(help) ?? [];
  const entries = [...lines.matchAll(/^ {2}(\S.*?)(?: {2,}|$)/gm)].map(([, entry = ""]) => entry);
  if (part === "Commands") return entries.map((entry) => entry.replace(/[| ].*/, ""));
  return entries.flatMap((entry) => entry.match(/(?<=^|, )--?[\w-]+/g) ?? []);
};

describe("completion in bash", () => {
  it("completes every command and every option that --help shows", () => {
    const paths: string[][] = [[]];
    for (const path of paths) {
      const command = path.reduce<Command>(
        (at, name) => at.commands.find((one) => one.name() === name) ?? at,
        program,
      );
      const help = command.createHelp().formatHelp(command, command.createHelp());
      expect(candidates(...path, "-")).toEqual(shown(help, "Options"));
      if (command.commands.length === 0) continue;
      const names = shown(help, "Commands");
      expect(candidates(...path, "")).toEqual(names);
      paths.push(...names.filter((name) => name !== "help").map((name) => [...path, name]));
    }
    expect(paths.map((path) => path.join(" "))).toEqual(
      expect.arrayContaining(["run", "ahp serve", "threads prune", "completion"]),
    );
  });

  it("completes the beginning of a word, choices, and what help explains", async () => {
    const cwd = await makeWorkspace();
    expect(await completed(cwd, "thr")).toEqual(["threads"]);
    expect(await completed(cwd, "run", "--appr")).toEqual(["--approve"]);
    expect(await completed(cwd, "run", "--approve", "")).toEqual(["ask", "once", "reject"]);
    expect(await completed(cwd, "run", "--approve", "=", "o")).toEqual(["once"]);
    expect(await completed(cwd, "run", "--approve", "=")).toEqual(["ask", "once", "reject"]);
    expect(await completed(cwd, "completion", "z")).toEqual(["zsh"]);
    expect(await completed(cwd, "help", "doc")).toEqual(["doctor"]);
  });

  it("completes files and directories where an option or argument takes them, with spaces", async () => {
    const cwd = await makeWorkspace({ "two words.yaml": "" });
    await mkdir(join(cwd, "a dir"));
    expect(await completed(cwd, "run", "--policy", "two")).toEqual(["two words.yaml"]);
    expect(await completed(cwd, "run", "--cwd", "")).toEqual(["a dir"]);
    expect(await completed(cwd, "audit", "verify", "two")).toEqual(["two words.yaml"]);
    expect(await completed(cwd, "run", "--cwd", "a dir", "--poli")).toEqual(["--policy", "--policy-timeout"]);
  });

  it("offers nothing for a value that is not known, and runs nothing", async () => {
    const cwd = await makeWorkspace();
    expect(await completed(cwd, "run", "--thread", "")).toEqual([]);
    expect(await completed(cwd, "run", "$(touch made)", "")).toEqual([]);
    expect(await completed(cwd, "run", "--policy", "$(touch made)")).toEqual([]);
    expect(await completed(cwd, "run", "--policy", "made")).toEqual([]);
  });
});

describe("harness completion", () => {
  it.each(["bash", "zsh", "fish"] as const)("prints a script that %s reads", async (shell) => {
    const cwd = await makeWorkspace();
    const end = await harness(["completion", shell], { cwd });
    expect(end).toMatchObject({ code: 0, stderr: "", stdout: completionScripts[shell] });
    // Checked where the shell is installed.
    const { error, status, stderr } = spawnSync(shell, ["-n"], { input: end.stdout, encoding: "utf8" });
    if (error === undefined) expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });

  it("gives descriptions, the kinds of values, and values that are joined to their option", () => {
    expect(completionLines(program, ["doc"])).toBe(
      "doctor\tfind what could keep the harness from working here, and how to fix it\n",
    );
    expect(candidates("run", "--cwd", "")).toEqual([":directories"]);
    expect(candidates("run", "--policy=x")).toEqual([":files"]);
    expect(candidates("run", "--approve=o")).toEqual(["--approve=once"]);
  });

  it("refuses another shell with exit code 2", async () => {
    const cwd = await makeWorkspace();
    const end = await harness(["completion", "tcsh"], { cwd });
    expect(end).toMatchObject({ code: 2, stdout: "" });
    expect(end.stderr).toContain("Allowed choices are bash, zsh, fish");
  });
});
