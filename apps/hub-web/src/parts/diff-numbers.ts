import type { ViewLine } from "@harnesskit/approvals";

export interface NumberedLine {
  readonly line: ViewLine;
  /** Its number in the file as it was; absent for an added line. */
  readonly before?: number;
  /** Its number in the file as it will be; absent for a removed line. */
  readonly after?: number;
}

const hunk = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;

/** The lines of a unified diff with their numbers. Lines outside of the hunks' counts have none and stay as they are. */
export const numberLines = (lines: readonly ViewLine[]): readonly NumberedLine[] => {
  let before = 0;
  let after = 0;
  let beforeLeft = 0;
  let afterLeft = 0;
  // What has no hunks is lines that go and come, at a place that is not known.
  if (!lines.some(({ kind }) => kind === "hunk")) return lines.map((line) => ({ line }));
  return lines.map((line): NumberedLine => {
    // Within a hunk a line starts with a space, a sign or a backslash: this is the next hunk, whatever the counts said.
    const match = line.kind === "cut" ? null : hunk.exec(line.text);
    if (match !== null) {
      before = Number(match[1]);
      after = Number(match[3]);
      beforeLeft = Number(match[2] ?? 1);
      afterLeft = Number(match[4] ?? 1);
      return { line: { ...line, kind: "hunk" } };
    }
    const sign = line.text[0];
    if (sign === "+" && afterLeft > 0) {
      afterLeft--;
      return { line: { ...line, kind: "added" }, after: after++ };
    }
    if (sign === "-" && beforeLeft > 0) {
      beforeLeft--;
      return { line: { ...line, kind: "removed" }, before: before++ };
    }
    if ((sign === " " || sign === undefined) && beforeLeft > 0 && afterLeft > 0) {
      beforeLeft--;
      afterLeft--;
      return { line: { ...line, kind: "plain" }, before: before++, after: after++ };
    }
    return { line: line.kind === "added" || line.kind === "removed" ? { ...line, kind: "plain" } : line };
  });
};

export type LinePair = readonly [before: NumberedLine | undefined, after: NumberedLine | undefined];

/** Lines that stand beside each other: what goes beside what comes in its place. Without `isBeside` each line stands alone. */
export const pairLines = (lines: readonly NumberedLine[], isBeside: boolean): readonly LinePair[] => {
  if (!isBeside) return lines.map((line) => [line, undefined]);
  const pairs: LinePair[] = [];
  let removed: NumberedLine[] = [];
  let added: NumberedLine[] = [];
  const flush = (): void => {
    for (let index = 0; index < Math.max(removed.length, added.length); index++)
      pairs.push([removed[index], added[index]]);
    removed = [];
    added = [];
  };
  for (const each of lines) {
    const { kind } = each.line;
    if (kind === "added") added.push(each);
    else {
      // What goes after something came is another change.
      if (kind !== "removed" || added.length > 0) flush();
      if (kind === "removed") removed.push(each);
      else pairs.push([each, each]);
    }
  }
  flush();
  return pairs;
};
