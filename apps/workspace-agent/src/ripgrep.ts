import { spawn } from "node:child_process";
import { once } from "node:events";
import { ToolError } from "@harnesskit/agent-sdk";
import { systemErrorCode } from "@harnesskit/node-kit";
import type { Deadline } from "./deadline.ts";
import { displayPath } from "./file-errors.ts";

/**
 * The path of the ripgrep that `@vscode/ripgrep` brings for this machine.
 * Throws `ToolError` `tool.ripgrep_missing`, which names the package to install.
 */
export async function findRipgrep(): Promise<string> {
  try {
    // Loaded with the first search: the package throws as it is loaded where it has no executable.
    return (await import("@vscode/ripgrep")).rgPath;
  } catch (cause) {
    throw ripgrepMissingError(cause);
  }
}

/** `tool.ripgrep_missing` */
const ripgrepMissingError = (cause: unknown): ToolError =>
  new ToolError(
    "tool.ripgrep_missing",
    `ripgrep, which searches the workspace, is not installed: install the optional dependency ` +
      `@vscode/ripgrep-${process.platform}-${process.arch} (npm install --include=optional)`,
    { cause },
  );

/** Virtual memory that one ripgrep may take. A search that users have takes less than a tenth of it. */
const maxMemoryKib = 1024 * 1024;
const maxRegexBytes = 32 * 1024 * 1024;
const maxErrorLength = 4096;

/** One run of ripgrep. */
export interface RipgrepRun {
  readonly executable: string;
  /** The arguments after those that hold for every run. */
  readonly args: readonly string[];
  /** The directory to run in. */
  readonly directory: string;
  readonly deadline: Deadline;
  /** Receives the output, decoded; bytes that are not UTF-8 are U+FFFD. Returns false to end the run. */
  onOutput(text: string): boolean;
}

/** How a run ended. */
export interface RipgrepEnd {
  /** 0: something was found. 1: nothing was found. 2: an error, or some of the files could not be read. */
  readonly code: 0 | 1 | 2;
  /** What it reported, at most 4096 characters; empty if it only could not read some of the files. */
  readonly error: string;
  /** `onOutput` has ended the run. */
  readonly stopped: boolean;
}

// No configuration file of the user, no messages about files. Of the environment it sees nothing.
const fixedArguments = ["--no-config", "--no-messages", "--no-ignore-messages", "--color=never", "--no-mmap"];
const boundArguments = [`--regex-size-limit=${maxRegexBytes}`, `--dfa-size-limit=${maxRegexBytes}`];

/**
 * Runs ripgrep with an empty standard input and environment.
 * Throws `ToolError` `tool.timeout` and `tool.canceled` at the deadline, `tool.ripgrep_missing` where the executable cannot
 * be started, and `tool.failed` where it was ended by a signal, as by the bound of its memory.
 */
export async function runRipgrep(run: RipgrepRun): Promise<RipgrepEnd> {
  const { deadline } = run;
  deadline.throwIfOver();
  const [file, args] = withBoundMemory(run.executable, [...fixedArguments, ...boundArguments, ...run.args]);
  const child = spawn(file, args, {
    cwd: run.directory,
    env: {},
    stdio: ["ignore", "pipe", "pipe"],
    windowsHide: true,
  });
  const kill = () => void child.kill("SIGKILL");
  deadline.signal.addEventListener("abort", kill, { once: true });
  let stopped = false;
  let error = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (stopped || run.onOutput(text)) return;
    stopped = true;
    kill();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    error = (error + text).slice(0, maxErrorLength);
  });
  try {
    const [code] = (await once(child, "close")) as [number | null];
    deadline.throwIfOver();
    if (stopped) return { code: 0, error, stopped };
    if (code === 0 || code === 1 || code === 2) return { code, error, stopped };
    throw endedError(code);
  } catch (cause) {
    if (ToolError.isInstance(cause)) throw cause;
    // Elsewhere the shell reports by its exit code that there is no ripgrep; what is missing here is the directory.
    throw process.platform === "win32" && systemErrorCode(cause) === "ENOENT"
      ? ripgrepMissingError(cause)
      : new ToolError("tool.failed", "ripgrep could not be started in the directory", { cause });
  } finally {
    deadline.signal.removeEventListener("abort", kill);
  }
}

/** Throws `ToolError` `tool.failed` if a run ended with an error other than files that could not be read. */
export function throwIfFailed({ code, error }: RipgrepEnd): void {
  if (code !== 2 || error === "") return;
  throw new ToolError("tool.failed", "ripgrep could not search the files", { cause: error });
}

/**
 * A .gitignore is read whole and a line of it is held whole, and it may be a link to `/dev/zero`: the shell sets a bound that
 * the kernel keeps. Systems other than Linux ignore it; there the deadline is the bound.
 */
function withBoundMemory(executable: string, args: readonly string[]): [file: string, args: string[]] {
  if (process.platform === "win32") return [executable, [...args]];
  const script = `ulimit -v ${maxMemoryKib} 2>/dev/null; exec "$0" "$@"`;
  return ["/bin/sh", ["-c", script, executable, ...args]];
}

/** The codes with which a shell reports that it cannot find or run a program. */
const notRunnable = new Set([126, 127]);

const endedError = (code: number | null): ToolError =>
  code !== null && notRunnable.has(code)
    ? ripgrepMissingError({ exitCode: code })
    : new ToolError(
        "tool.failed",
        "ripgrep was ended: it may need more memory than it may take, for a very large .gitignore or pattern",
      );

/** A pattern as arguments of ripgrep: matched line by line, `$` before either line end. Never taken for an option. */
export const patternArguments = (pattern: string): readonly string[] => ["--crlf", `--regexp=${pattern}`];

/**
 * Checks that ripgrep can compile a pattern. Throws `ToolError` `tool.invalid_input` with ripgrep's reason if it cannot,
 * and what `runRipgrep` throws.
 */
export async function checkSearchPattern(
  pattern: string,
  executable: string,
  deadline: Deadline,
): Promise<void> {
  if (pattern.includes("\0")) throw patternError("it contains a NUL character; write \\x00");
  const { code, error } = await runRipgrep({
    executable,
    // Standard input, which is empty.
    args: ["--quiet", ...patternArguments(pattern), "--", "-"],
    directory: "/",
    deadline,
    onOutput: () => true,
  });
  if (code === 2) throw patternError(ripgrepReason(error));
}

const patternError = (reason: string): ToolError =>
  new ToolError(
    "tool.invalid_input",
    `the search pattern is not a valid regular expression (syntax of ripgrep): ${reason}`,
  );

/** ripgrep shows the pattern and a mark below it, then the reason; other errors are one sentence, then advice about options. */
function ripgrepReason(error: string): string {
  const last = [...error.matchAll(/^error: (.+)$/gm)].at(-1)?.[1];
  const first = error.split("\n", 1)[0]?.replace(/^rg: /, "");
  return displayPath(last ?? first ?? "");
}
