import { lstat } from "node:fs/promises";
import type { Deadline } from "./deadline.ts";
import { readAtMost } from "./read-bytes.ts";
import { runRipgrep, throwIfFailed } from "./run-ripgrep.ts";
import { openRegularFile } from "./safe-open.ts";
import { patternArguments } from "./search-pattern.ts";
import { isBinary } from "./text.ts";
import type { Workspace } from "./workspace.ts";

// Keeps the arguments of one ripgrep below what every system takes: paths have up to 4096 bytes, most have 60.
const batchFiles = 1000;
const batchBytes = process.platform === "win32" ? 20_000 : 100_000;
/** How many files are looked at together. */
const parallelStats = 64;

/** What is searched for, and its bounds. */
export interface LineSearch {
  readonly workspace: Workspace;
  /** A pattern that ripgrep takes. */
  readonly pattern: string;
  readonly ripgrep: string;
  readonly maxMatchesPerFile: number;
  /** A larger file is passed over. */
  readonly maxFileBytes: number;
  readonly deadline: Deadline;
}

/** A line that matches, without its line end. */
export interface LineMatch {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/**
 * The matches in files given by canonical path, in their order. Binary files and those that cannot be read are passed
 * over. ripgrep finds the numbers of the lines; their text comes from a file that was opened and checked here, so that
 * a link planted meanwhile shows nothing. Throws what `runRipgrep` throws.
 */
export async function* matchingLines(
  paths: readonly string[],
  search: LineSearch,
): AsyncGenerator<LineMatch> {
  for (const batch of argumentBatches(paths)) {
    const found = await lineNumbers(await smallEnough(batch, search), search);
    for (const path of batch) {
      const numbers = found.get(path);
      if (numbers === undefined) continue;
      search.deadline.throwIfOver();
      const lines = await readLines(path, search);
      for (const line of numbers) {
        const text = lines[line - 1];
        if (text !== undefined) yield { path, line, text };
      }
    }
  }
}

function* argumentBatches(paths: readonly string[]): Generator<string[]> {
  let batch: string[] = [];
  let bytes = 0;
  for (const path of paths) {
    batch.push(path);
    bytes += Buffer.byteLength(path) + 3;
    if (batch.length < batchFiles && bytes < batchBytes) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

/**
 * The paths of files within the limit. ripgrep holds a line whole, and a file without a newline is one line; its own
 * limit does not count for files that it is named.
 */
async function smallEnough(
  paths: readonly string[],
  { workspace, maxFileBytes }: LineSearch,
): Promise<string[]> {
  const fitting: string[] = [];
  for (let start = 0; start < paths.length; start += parallelStats) {
    const some = paths.slice(start, start + parallelStats);
    const stats = await Promise.all(
      some.map((path) => lstat(workspace.absolute(path)).catch(() => undefined)),
    );
    for (const [index, path] of some.entries()) {
      const found = stats[index];
      if (found?.isFile() && found.size <= maxFileBytes) fitting.push(path);
    }
  }
  return fitting;
}

/** Numbers of the lines that match, per path, each file's ascending. */
async function lineNumbers(paths: readonly string[], search: LineSearch): Promise<Map<string, number[]>> {
  const records = new RecordParser();
  if (paths.length === 0) return records.lines;
  const end = await runRipgrep({
    executable: search.ripgrep,
    args: [
      // What is binary is decided by `readLines`. The text of lines is read there, too: one column stays.
      ...["--text", "--no-heading", "--with-filename", "--line-number", "--null", "--max-columns=1"],
      ...[`--max-filesize=${search.maxFileBytes}`, `--max-count=${search.maxMatchesPerFile}`],
      ...patternArguments(search.pattern),
      "--",
      ...paths.map((path) => `./${path}`),
    ],
    directory: search.workspace.root,
    deadline: search.deadline,
    onOutput: (text) => records.push(text),
  });
  throwIfFailed(end);
  return records.lines;
}

/** Takes output made of `path NUL number : text LF`. */
class RecordParser {
  readonly lines = new Map<string, number[]>();
  #rest = "";

  push(text: string): true {
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
      else lines.push(line);
      start = end + 1;
    }
    this.#rest = this.#rest.slice(start);
    return true;
  }
}

/** The lines of a text file without their line ends; none for a file that is binary or cannot be read. */
async function readLines(path: string, { workspace, maxFileBytes }: LineSearch): Promise<string[]> {
  const text = await readText(workspace, path, maxFileBytes).catch(() => undefined);
  if (text === undefined || text.includes("\0")) return [];
  return text.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

async function readText(workspace: Workspace, path: string, maxBytes: number): Promise<string | undefined> {
  const handle = await openRegularFile(workspace, path);
  try {
    const bytes = await readAtMost(handle, maxBytes);
    return bytes && decode(bytes);
  } finally {
    await handle.close();
  }
}

/** As ripgrep does it: UTF-16 by its byte order mark, otherwise UTF-8. */
function decode(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return isBinary(bytes) ? undefined : new TextDecoder("utf-8").decode(bytes);
}
