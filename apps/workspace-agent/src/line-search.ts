import type { Deadline } from "./deadline.ts";
import { readAtMost } from "./read-bytes.ts";
import { RegexWorker } from "./regex-worker.ts";
import { findRipgrep, ripgrepLines } from "./ripgrep.ts";
import { openRegularFile } from "./safe-open.ts";
import type { SearchPattern } from "./search-pattern.ts";
import { isBinary } from "./text.ts";
import type { Workspace } from "./workspace.ts";

/** What is searched for, and its bounds. */
export interface LineSearchOptions {
  readonly workspace: Workspace;
  readonly pattern: SearchPattern;
  readonly searchPath: string;
  readonly maxMatches: number;
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
 * Searches files line by line, with ripgrep where there is one and with JavaScript otherwise. Both find the same:
 * ripgrep only tells in which lines to look, the text always comes from a file opened and checked here.
 */
export class LineSearch {
  readonly #options: LineSearchOptions;
  readonly #ripgrep: string | undefined;
  #worker: RegexWorker | undefined;

  private constructor(options: LineSearchOptions, ripgrep: string | undefined) {
    this.#options = options;
    this.#ripgrep = ripgrep;
  }

  static async start(options: LineSearchOptions): Promise<LineSearch> {
    return new LineSearch(options, await findRipgrep(options.searchPath, options.workspace.root));
  }

  /** The matches in files given by canonical path, in their order. Files that cannot be searched are passed over. */
  async *matches(paths: readonly string[]): AsyncGenerator<LineMatch> {
    const candidates = await this.#candidates(paths);
    for (const path of paths) {
      if (candidates !== undefined && !candidates.has(path)) continue;
      this.#options.deadline.throwIfOver();
      const lines = await this.#readLines(path);
      if (lines === undefined) continue;
      const numbers =
        (!isSeenTwoWays(lines) && candidates?.get(path)) || (await this.#matchingNumbers(lines));
      for (const line of numbers) {
        const text = lines[line - 1];
        if (text !== undefined) yield { path, line, text };
      }
    }
  }

  async close(): Promise<void> {
    await this.#worker?.close();
  }

  async #candidates(paths: readonly string[]): Promise<Map<string, number[]> | undefined> {
    const pattern = this.#options.pattern.ripgrep;
    if (this.#ripgrep === undefined || pattern === undefined) return undefined;
    return ripgrepLines({
      executable: this.#ripgrep,
      pattern,
      directory: this.#options.workspace.root,
      paths,
      maxMatchesPerFile: this.#options.maxMatches,
      maxFileBytes: this.#options.maxFileBytes,
      deadline: this.#options.deadline,
    });
  }

  async #matchingNumbers(lines: readonly string[]): Promise<number[]> {
    this.#worker ??= new RegexWorker(this.#options.pattern, this.#options.deadline);
    const found = await this.#worker.matching(lines, this.#options.maxMatches);
    return found.map((index) => index + 1);
  }

  async #readLines(path: string): Promise<string[] | undefined> {
    const text = await this.#readText(path).catch(() => undefined);
    if (text === undefined || text === "" || text.includes("\0")) return undefined;
    const lines = text.split("\n");
    if (lines.at(-1) === "") lines.pop();
    return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  }

  async #readText(path: string): Promise<string | undefined> {
    const handle = await openRegularFile(this.#options.workspace, path);
    try {
      const bytes = await readAtMost(handle, this.#options.maxFileBytes);
      return bytes && decode(bytes);
    } finally {
      await handle.close();
    }
  }
}

/**
 * Whether ripgrep may find more: versions of it differ in whether a line starts and ends at a CR within it, and it tells U+FFFD from bytes
 * that are no UTF-8.
 */
const isSeenTwoWays = (lines: readonly string[]): boolean => lines.some((line) => /[\r\ufffd]/.test(line));

/** As ripgrep does it: UTF-16 by its byte order mark, otherwise UTF-8. */
function decode(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return isBinary(bytes) ? undefined : new TextDecoder("utf-8").decode(bytes);
}
