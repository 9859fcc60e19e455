import type { Deadline } from "./deadline.ts";
import { pathBelow, walkFiles } from "./list-files.ts";
import { readAtMost } from "./read-bytes.ts";
import { patternArguments, runRipgrep, throwIfFailed } from "./ripgrep.ts";
import { openRegularFile } from "./safe-open.ts";
import { isBinary } from "./text.ts";
import type { Workspace } from "./workspace.ts";

/** Lines that are noted before a search ends as truncated. */
const maxLines = 1_000_000;

/** What is searched for, and its bounds. */
export interface LineSearch {
  readonly workspace: Workspace;
  /** Canonical path of the file or directory to search. */
  readonly start: string;
  readonly isFile: boolean;
  /** Also what `.gitignore` leaves out, and what is in `node_modules`. */
  readonly all: boolean;
  /** A pattern that ripgrep takes. */
  readonly pattern: string;
  readonly ripgrep: string;
  readonly maxMatchesPerFile: number;
  /** A larger file is passed over. Of a file that is named, the caller has checked that. */
  readonly maxFileBytes: number;
  readonly deadline: Deadline;
}

/** The numbers of the lines that match, ascending, by canonical path. Throws what `listFiles` throws. */
export async function findLines(
  search: LineSearch,
): Promise<{ lines: Map<string, number[]>; truncated: boolean }> {
  const { workspace, start, isFile, pattern, ripgrep, deadline } = search;
  const records = new RecordParser(isFile ? "." : start);
  const onOutput = (text: string) => records.push(text);
  const args = [
    // What is binary is decided by `readMatchable`. The text of lines is read there, too: one column stays.
    ...["--text", "--no-heading", "--with-filename", "--line-number", "--null", "--max-columns=1"],
    ...[`--max-filesize=${search.maxFileBytes}`, `--max-count=${search.maxMatchesPerFile}`],
    ...[...patternArguments(pattern), "--", isFile ? `./${start}` : "./"],
  ];
  if (!isFile) {
    const { stopped } = await walkFiles(search, args, onOutput);
    return { lines: records.lines, truncated: stopped };
  }
  throwIfFailed(
    await runRipgrep({ executable: ripgrep, args, directory: workspace.root, deadline, onOutput }),
  );
  return { lines: records.lines, truncated: false };
}

/** Takes output made of `./path NUL number : text LF`. */
class RecordParser {
  readonly lines = new Map<string, number[]>();
  readonly #start: string;
  #rest = "";
  #count = 0;

  constructor(start: string) {
    this.#start = start;
  }

  /** Returns false once there is more than fits. */
  push(text: string): boolean {
    this.#rest += text;
    let start = 0;
    for (;;) {
      const pathEnd = this.#rest.indexOf("\0", start);
      const end = pathEnd === -1 ? -1 : this.#rest.indexOf("\n", pathEnd);
      if (end === -1) break;
      const path = pathBelow(this.#start, this.#rest.slice(start + "./".length, pathEnd));
      const line = Number.parseInt(this.#rest.slice(pathEnd + 1, end), 10);
      const lines = this.lines.get(path);
      if (lines === undefined) this.lines.set(path, [line]);
      else lines.push(line);
      this.#count++;
      start = end + 1;
    }
    this.#rest = this.#rest.slice(start);
    return this.#count < maxLines;
  }
}

/**
 * The lines of a file without their line ends; empty for a file that is binary or cannot be read. ripgrep only finds numbers
 * of lines: their text comes from a file that is opened and checked here, so that a link planted meanwhile shows nothing.
 */
export async function readMatchable(workspace: Workspace, path: string, maxBytes: number): Promise<string[]> {
  const handle = await openRegularFile(workspace, path).catch(() => undefined);
  try {
    const bytes = handle && (await readAtMost(handle, maxBytes));
    const text = bytes && decodeText(bytes);
    if (text === undefined || text.includes("\0")) return [];
    return text.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  } catch {
    return [];
  } finally {
    await handle?.close();
  }
}

/** As ripgrep does it: UTF-16 by its byte order mark, otherwise UTF-8. */
function decodeText(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return isBinary(bytes) ? undefined : new TextDecoder("utf-8").decode(bytes);
}
