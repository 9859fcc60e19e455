import { spawnSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allCommands, toCommandSpec } from "../src/completion/command-spec.ts";
import { completionScript } from "../src/completion/completion-script.ts";
import { createProgram } from "../src/program.ts";
import { harness, makeWorkspace, startProgram } from "./support/harness.ts";

const program = createProgram({ binPath: "harness", version: "0.0.0", onExit: () => {} });
const commands = allCommands(toCommandSpec(program));

/** What bash offers for the last of the words. */
const completed = async (cwd: string, ...words: string[]): Promise<string[]> => {
  const script = `${completionScript("bash", program)}
COMP_WORDS=(harness "$@"); COMP_CWORD=$#; _harness; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const run = startProgram("bash", ["--norc", "-c", script, "bash", ...words], { cwd, input: "" });
  const { code, stdout, stderr } = await run.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.split("\n").filter((word) => word !== "");
};

describe("completion in bash", () => {
  it("completes every command and every option that --help shows", async () => {
    const cwd = await makeWorkspace();
    for (const { path, options, commands: below } of commands) {
      const words = path === "" ? [] : path.split(" ");
      expect(await completed(cwd, ...words, "-")).toEqual(options.flatMap(({ flags }) => flags));
      if (below.length === 0) continue;
      const names = below.map((one) => one.path.split(" ").at(-1));
      expect(await completed(cwd, ...words, "")).toEqual(names);
    }
    expect(commands.map(({ path }) => path)).toEqual(
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
  it.each(["bash", "zsh", "fish"] as const)("prints the script for %s", async (shell) => {
    const cwd = await makeWorkspace();
    const end = await harness(["completion", shell], { cwd });
    expect(end).toMatchObject({ code: 0, stderr: "", stdout: completionScript(shell, program) });
  });

  it.each([
    [
      "zsh",
      "'run --approve') compadd -- 'ask' 'once' 'reject'; return ;;",
      "'run --cwd') _files -/; return ;;",
    ],
    ["fish", "-l approve -x -a 'ask once reject'", "-l cwd -x -a '(__fish_complete_directories)'"],
  ] as const)("knows every command, option, choice and path in %s", (shell, ...parts) => {
    const script = completionScript(shell, program);
    for (const part of parts) expect(script).toContain(part);
    for (const { path, options } of commands) {
      expect(script).toContain(path);
      for (const { flags } of options)
        for (const flag of flags) expect(script).toContain(shell === "zsh" ? flag : flag.replace(/^-+/, ""));
    }
    // Where the shell is installed, it reads the script as well.
    const { error, status, stderr } = spawnSync(shell, ["-n"], { input: script, encoding: "utf8" });
    if (error === undefined) expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });

  it("refuses another shell with exit code 2", async () => {
    const cwd = await makeWorkspace();
    const end = await harness(["completion", "tcsh"], { cwd });
    expect(end).toMatchObject({ code: 2, stdout: "" });
    expect(end.stderr).toContain("Allowed choices are bash, zsh, fish");
  });
});
