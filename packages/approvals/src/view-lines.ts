import { displayText } from "@harnesskit/wire";

export interface LineOptions {
  /** Lines of one part that are shown; how many follow is said. @default 400 */
  readonly maxLines?: number | undefined;
  /** Characters of one part that are shown; how many follow is said. @default 50000 */
  readonly maxLength?: number | undefined;
}

/** What a line of a diff is, so that a page or a terminal can colour it. */
export type LineKind = "plain" | "added" | "removed" | "hunk" | "file" | "cut";

export interface ViewLine {
  readonly kind: LineKind;
  readonly text: string;
}

/** Runs of spaces that are longer would push what follows them out of sight. */
const longSpace = / {64,}/g;
/** More marks on one letter than any script uses would cover other lines. */
const manyMarks = /(\p{M}{8})(\p{M}+)/gu;

/** What safe text still hides by its length: long runs are counted. */
const shortenRuns = (text: string): string =>
  text
    .replace(longSpace, (run, start: number) =>
      start + run.length === text.length ? run : `⟨${run.length} spaces⟩`,
    )
    .replace(manyMarks, (_all, kept: string, more: string) => `${kept}⟨${[...more].length} more marks⟩`);

/** Untrusted text as one safe line, whole. */
export const wholeText = (text: string): string => displayText(text, { maxLength: Number.POSITIVE_INFINITY });

/** The same in quotes. */
export const quoted = (text: string): string => wholeText(JSON.stringify(text));

/** Untrusted text as one safe line. */
export const safeLine = (text: string, maxLength = 500): string =>
  shortenRuns(displayText(text, { maxLength }));

const lineKindOf = (text: string): LineKind => {
  if (/^(?:\+\+\+|---) /.test(text)) return "file";
  if (text.startsWith("@@")) return "hunk";
  if (text.startsWith("+")) return "added";
  return text.startsWith("-") ? "removed" : "plain";
};

/** Returns untrusted text as lines that are safe to show. A last line counts what was cut. */
export const toViewLines = (
  text: string,
  isDiff: boolean,
  { maxLines = 400, maxLength = 50_000 }: LineOptions = {},
): ViewLine[] => {
  const body = text.endsWith("\n") ? text.slice(0, -1) : text;
  let kept = body.slice(0, maxLength).split("\n", maxLines).join("\n");
  // Half of a pair would be shown as another character.
  if (kept.length < body.length && /[\ud800-\udbff]$/.test(kept)) kept = kept.slice(0, -1);
  const lines = kept.split("\n").map((each): ViewLine => {
    const safe = displayText(each, { multiline: true, maxLength: Number.POSITIVE_INFINITY });
    return {
      kind: isDiff ? lineKindOf(each) : "plain",
      text: shortenRuns(safe.replaceAll("\t", "    ")),
    };
  });
  const missing = body.length - kept.length;
  if (missing === 0) return lines;
  const allLines = body.split("\n").length;
  return [...lines, { kind: "cut", text: `… [${missing} more characters; ${allLines} lines in all]` }];
};

const signed = (text: string, kind: "added" | "removed", options: LineOptions): ViewLine[] =>
  toViewLines(text, false, options).map(
    (each): ViewLine =>
      each.kind === "cut" ? each : { kind, text: `${kind === "added" ? "+" : "-"}${each.text}` },
  );

/** A replacement as the lines that go and those that come. */
export const replacedLines = (text: string, by: string, options: LineOptions = {}): ViewLine[] => [
  ...(text === "" ? [] : signed(text, "removed", options)),
  ...(by === "" ? [] : signed(by, "added", options)),
];
