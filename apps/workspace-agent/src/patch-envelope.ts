/** One file of a patch envelope. */
export interface PatchedFile {
  readonly kind: "add" | "update" | "delete";
  readonly path: string;
  /** Where an update moves the file. */
  readonly movedTo?: string;
  /** The lines of the file, or of its hunks, each with its sign. */
  readonly lines: readonly string[];
}

const fileHeader = /^\*\*\* (Add|Update|Delete) File: (.+)$/;
const moveHeader = /^\*\*\* Move to: (.+)$/;
const kinds = { Add: "add", Update: "update", Delete: "delete" } as const;

/** The files of a patch envelope (`*** Begin Patch` … `*** End Patch`); undefined for a string that is not one. */
export const readPatchEnvelope = (patch: string): readonly PatchedFile[] | undefined => {
  const [begin, ...rest] = patch.trim().split(/\r?\n/);
  if (begin?.trim() !== "*** Begin Patch" || rest.at(-1)?.trim() !== "*** End Patch") return undefined;
  const files: (PatchedFile & { lines: string[] })[] = [];
  for (const line of rest.slice(0, -1)) {
    const [, kind, path] = fileHeader.exec(line.trim()) ?? [];
    const last = files.at(-1);
    const [, movedTo] = moveHeader.exec(line.trim()) ?? [];
    if (kind !== undefined && path !== undefined) {
      files.push({ kind: kinds[kind as keyof typeof kinds], path, lines: [] });
    } else if (last === undefined) return undefined;
    else if (movedTo !== undefined && last.kind === "update" && last.lines.length === 0) {
      files[files.length - 1] = { ...last, movedTo };
    } else last.lines.push(line);
  }
  return files;
};

interface Hunk {
  /** A line that stands before it in the file. */
  readonly after: string | undefined;
  readonly before: string[];
  readonly now: string[];
  isAtEnd: boolean;
}

/** The hunks of an update; undefined for lines that are not those of hunks. */
const hunksOf = (lines: readonly string[]): readonly Hunk[] | undefined => {
  const hunks: Hunk[] = [];
  const begin = (after?: string): Hunk => {
    const hunk = { after, before: [], now: [], isAtEnd: false };
    hunks.push(hunk);
    return hunk;
  };
  for (const line of lines) {
    const [, context] = /^@@(?: (.*))?$/.exec(line) ?? [];
    if (line.startsWith("@@")) {
      begin(context);
      continue;
    }
    const hunk = hunks.at(-1) ?? begin();
    if (line.trim() === "*** End of File") hunk.isAtEnd = true;
    else if (line.startsWith("+")) hunk.now.push(line.slice(1));
    else if (line.startsWith("-")) hunk.before.push(line.slice(1));
    else if (line.startsWith(" ") || line === "") {
      hunk.before.push(line.slice(1));
      hunk.now.push(line.slice(1));
    } else return undefined;
  }
  return hunks;
};

/** Programs that apply envelopes take lines for the same whose ends, or then whose beginnings, differ in white space. */
const likeness: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
];

/** Where lines stand from `start` on; -1 for nowhere. */
const findLines = (text: readonly string[], wanted: readonly string[], start: number): number => {
  for (const like of likeness) {
    const [first, ...others] = wanted.map(like);
    if (first === undefined) return -1;
    for (let at = start; at + wanted.length <= text.length; at++) {
      if (like(text[at] ?? "") !== first) continue;
      if (others.every((line, index) => like(text[at + index + 1] ?? "") === line)) return at;
    }
  }
  return -1;
};

/** The text of a file after an update by these lines; undefined where a hunk does not fit. */
export const applyHunks = (text: string, lines: readonly string[]): string | undefined => {
  const hunks = hunksOf(lines);
  if (hunks === undefined) return undefined;
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const old = text === "" ? [] : text.split(/\r?\n/);
  if (text.endsWith("\n")) old.pop();
  const fresh: string[] = [];
  let from = 0;
  for (const { after, before, now, isAtEnd } of hunks) {
    let start = from;
    if (after !== undefined && after.trim() !== "") {
      const found = findLines(old, [after], from);
      if (found === -1) return undefined;
      start = found + 1;
    }
    const tail = Math.max(start, old.length - before.length);
    const at =
      before.length === 0
        ? after === undefined || isAtEnd
          ? old.length
          : start
        : findLines(old, before, isAtEnd ? tail : start);
    if (at === -1) return undefined;
    fresh.push(...old.slice(from, at), ...now);
    from = at + before.length;
  }
  fresh.push(...old.slice(from));
  return fresh.length === 0 ? "" : fresh.join(end) + end;
};

/** The text of a file that an envelope adds; undefined where a line has no sign. */
export const addedText = (lines: readonly string[]): string | undefined =>
  lines.every((line) => line.startsWith("+"))
    ? lines.map((line) => `${line.slice(1)}\n`).join("")
    : undefined;
