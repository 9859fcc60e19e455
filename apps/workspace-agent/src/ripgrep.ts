import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { access, lstat, realpath, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, sep } from "node:path";
import type { Deadline } from "./deadline.ts";

const executableName = process.platform === "win32" ? "rg.exe" : "rg";

/**
 * The first ripgrep in the directories of `searchPath`; undefined if there is none. A program that the workspace
 * brings along is not taken: searching must not run what a repository planted.
 */
export async function findRipgrep(searchPath: string, workspaceRoot: string): Promise<string | undefined> {
  for (const directory of searchPath.split(delimiter)) {
    if (!isAbsolute(directory)) continue;
    const found = await executable(join(directory, executableName));
    if (found !== undefined && !`${found}${sep}`.startsWith(`${workspaceRoot}${sep}`)) return found;
  }
  return undefined;
}

async function executable(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.X_OK);
    const real = await realpath(path);
    return (await stat(real)).isFile() ? real : undefined;
  } catch {
    return undefined;
  }
}

/** A search in given files. */
export interface RipgrepRequest {
  readonly executable: string;
  readonly pattern: string;
  /** Absolute path of the directory that `paths` are relative to. */
  readonly directory: string;
  readonly paths: readonly string[];
  readonly maxMatchesPerFile: number;
  /** A larger file is passed over. */
  readonly maxFileBytes: number;
  readonly deadline: Deadline;
}

/** How many files are looked at together. */
const parallelStats = 64;

/**
 * The paths of files within the limit. ripgrep holds a line whole, and a file without a newline is one line; its own
 * limit does not count for files that it is named.
 */
async function smallEnough({ paths, directory, maxFileBytes }: RipgrepRequest): Promise<string[]> {
  const fitting: string[] = [];
  for (let start = 0; start < paths.length; start += parallelStats) {
    const some = paths.slice(start, start + parallelStats);
    const stats = await Promise.all(some.map((path) => lstat(join(directory, path)).catch(() => undefined)));
    for (const [index, path] of some.entries()) {
      if ((stats[index]?.size ?? Number.POSITIVE_INFINITY) <= maxFileBytes) fitting.push(path);
    }
  }
  return fitting;
}

/**
 * Numbers of the lines that match, per path, each file's ascending. Undefined if ripgrep failed, which leaves open
 * why. Throws `ToolError` `tool.timeout` or `tool.canceled`.
 */
export async function ripgrepLines(request: RipgrepRequest): Promise<Map<string, number[]> | undefined> {
  const { deadline } = request;
  deadline.throwIfOver();
  const paths = await smallEnough(request);
  if (paths.length === 0) return new Map();
  const options = [
    ...["--no-config", "--no-ignore", "--hidden", "--no-messages", "--no-mmap", "--color=never"],
    // What is binary is decided by whoever reads the file. The text of lines is read there, too: one column stays.
    ...["--text", "--crlf", "--no-heading", "--with-filename", "--line-number", "--null", "--max-columns=1"],
    // A file without a newline would be held whole.
    ...[
      `--max-filesize=${request.maxFileBytes}`,
      `--max-count=${request.maxMatchesPerFile}`,
      "--regexp",
      request.pattern,
      "--",
    ],
  ];
  const child = spawn(request.executable, [...options, ...paths.map((path) => `./${path}`)], {
    cwd: request.directory,
    env: {},
    stdio: ["ignore", "pipe", "ignore"],
    windowsHide: true,
  });
  const kill = () => child.kill("SIGKILL");
  deadline.signal.addEventListener("abort", kill, { once: true });
  const parser = new RecordParser();
  child.stdout.setEncoding("utf8").on("data", (text: string) => parser.push(text));
  try {
    const code = await new Promise<number | null>((resolve) => {
      child.once("error", () => resolve(null));
      child.once("close", resolve);
    });
    deadline.throwIfOver();
    // 1 is "no match". 2 is an error, also that one of the files could not be read.
    return code === 0 || code === 1 ? parser.lines : undefined;
  } finally {
    deadline.signal.removeEventListener("abort", kill);
  }
}

/** Takes output made of `path NUL number : text LF`. */
class RecordParser {
  readonly lines = new Map<string, number[]>();
  #rest = "";

  push(text: string): void {
    this.#rest += text;
    let start = 0;
    for (;;) {
      const pathEnd = this.#rest.indexOf("\0", start);
      const end = pathEnd === -1 ? -1 : this.#rest.indexOf("\n", pathEnd);
      if (end === -1) break;
      const path = this.#rest.slice(start + "./".length, pathEnd);
      const line = Number.parseInt(this.#rest.slice(pathEnd + 1, end), 10);
      const lines = this.lines.get(path);
      if (lines === undefined) this.lines.set(path, [line]);
      else if (lines.at(-1) !== line) lines.push(line);
      start = end + 1;
    }
    this.#rest = this.#rest.slice(start);
  }
}
