import { execFile } from "node:child_process";
import { displayText } from "@harnesskit/wire";
import { io } from "../io.ts";
import type { Style } from "../terminal/terminal.ts";

const maxBytes = 8 * 1024 * 1024;
const maxLines = 400;
const timeoutMs = 20_000;

interface GitEnd {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

const git = (directory: string, ...args: string[]): Promise<GitEnd> =>
  new Promise((resolve) => {
    const env = { ...io().env, GIT_OPTIONAL_LOCKS: "0", GIT_PAGER: "cat", LC_ALL: "C" };
    const options = { cwd: directory, env, maxBuffer: maxBytes, timeout: timeoutMs };
    // A repository's own configuration can name a program that git asks what has changed.
    execFile("git", ["-c", "core.fsmonitor=false", ...args], options, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });

/** Settings of a repository with which `git diff` starts programs of the repository's choice. */
const startsPrograms = "^filter\\..*\\.(clean|process)$";

const paint = (line: string, style: Style): string => {
  const shown = displayText(line, { maxLength: 1_000 });
  if (/^(?:diff |\+\+\+ |--- )/.test(line)) return style.bold(shown);
  if (line.startsWith("+")) return style.green(shown);
  return line.startsWith("-") ? style.red(shown) : line.startsWith("@@") ? style.cyan(shown) : shown;
};

/** What is changed in a directory since its last commit, as safe lines; or why that cannot be said. */
export const workspaceDiff = async (directory: string, style: Style): Promise<string[]> => {
  const configured = await git(directory, "config", "--local", "--includes", "--get-regexp", startsPrograms);
  if (configured.code === "ENOENT") return ["git is not installed."];
  if (configured.stdout !== "") {
    const [name = ""] = configured.stdout.split(/\s/, 1);
    return [`git would start a program of this repository (${name}): look yourself, with git diff`];
  }
  const inside = await git(directory, "rev-parse", "--is-inside-work-tree");
  if (inside.code !== 0) return ["This directory is no work tree of git: there is nothing to compare with."];
  const hasCommit = (await git(directory, "rev-parse", "--verify", "--quiet", "HEAD")).code === 0;
  const shown = ["--no-ext-diff", "--no-textconv", "--ignore-submodules", "--no-color", "--stat", "--patch"];
  const changed = await git(directory, "diff", ...shown, ...(hasCommit ? ["HEAD"] : []), "--", ".");
  const others = await git(directory, "ls-files", "--others", "--exclude-standard", "--", ".");
  const failed = [changed, others].find(({ code }) => code !== 0);
  if (failed) return [`git diff failed: ${failed.stderr || String(failed.code)}`];
  const lines = changed.stdout
    .trimEnd()
    .split("\n")
    .filter((line) => line !== "");
  const files = others.stdout.split("\n").filter((name) => name !== "" && !name.startsWith(".harness/"));
  if (lines.length + files.length === 0) return ["Nothing is changed since the last commit."];
  const more = lines.length - maxLines;
  return [
    ...lines.slice(0, maxLines).map((line) => paint(line, style)),
    ...(more > 0 ? [style.dim(`… ${more} more lines: git diff`)] : []),
    ...(files.length === 0 ? [] : [style.bold("New files, not in git yet:")]),
    ...files.slice(0, maxLines).map((name) => `  ${name}`),
  ];
};
