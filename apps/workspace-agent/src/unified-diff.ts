import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from "diff";
import { displayPath } from "./file-errors.ts";
import { cutText } from "./text.ts";

// Above this many changed lines a line-by-line comparison costs more than it tells.
const maxEditLength = 2000;
const contextLines = 3;

/** A file's text before and after; undefined where the file is not there. */
export interface FileChange {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/**
 * The unified diff of a file's text, `before` undefined for a new file. Longer than `maxLength` characters its
 * middle is left out, and a line says so.
 */
export const unifiedDiff = (
  path: string,
  before: string | undefined,
  after: string,
  maxLength: number,
): string => unifiedDiffs([{ path, before, after }], maxLength);

/** The unified diffs of several files, one behind the other, cut as one. */
export const unifiedDiffs = (changes: readonly FileChange[], maxLength: number): string =>
  cutLines(changes.map(diffText).join(""), maxLength);

function diffText({ path, before, after }: FileChange): string {
  const name = displayPath(path);
  const from = before === undefined ? "/dev/null" : `a/${name}`;
  const to = after === undefined ? "/dev/null" : `b/${name}`;
  const patch = structuredPatch(from, to, before ?? "", after ?? "", undefined, undefined, {
    context: contextLines,
    maxEditLength,
  });
  return patch === undefined
    ? replacement(from, to, before ?? "", after ?? "")
    : formatPatch(patch, FILE_HEADERS_ONLY);
}

function replacement(from: string, to: string, before: string, after: string): string {
  const old = diffLines(before, "-");
  const fresh = diffLines(after, "+");
  const range = (lines: number) => (lines === 0 ? "0,0" : `1,${lines}`);
  const header = `--- ${from}\n+++ ${to}\n@@ -${range(old.count)} +${range(fresh.count)} @@\n`;
  return header + old.text + fresh.text;
}

function diffLines(text: string, sign: "+" | "-"): { text: string; count: number } {
  if (text === "") return { text: "", count: 0 };
  const complete = text.endsWith("\n");
  const lines = (complete ? text.slice(0, -1) : text).split("\n");
  const end = complete ? "\n" : "\n\\ No newline at end of file\n";
  return { text: lines.map((line) => sign + line).join("\n") + end, count: lines.length };
}

/** Keeps the beginning and the end: what is added often comes last. */
function cutLines(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const half = Math.floor(maxLength / 2);
  const headEnd = text.lastIndexOf("\n", half);
  const head = headEnd === -1 ? `${cutText(text, half)}\n` : text.slice(0, headEnd + 1);
  const tailStart = text.indexOf("\n", text.length - half);
  const tail = tailStart === -1 || tailStart === text.length - 1 ? "" : text.slice(tailStart + 1);
  const hidden = text.length - head.length - tail.length;
  return `${head}[the diff is cut here: ${hidden} of ${text.length} characters are not shown]\n${tail}`;
}
