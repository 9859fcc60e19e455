/** Cuts a string without splitting a character. */
export function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const end = /[\ud800-\udbff]/.test(text.charAt(maxChars - 1)) ? maxChars - 1 : maxChars;
  return text.slice(0, end);
}

/**
 * Shows what a reader could not see: control, bidirectional and zero-width characters and broken surrogates become
 * their number, as in `\u{202e}`. Line breaks and tabs stay.
 */
function visible(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu, (character) =>
      character === "\n" || character === "\t"
        ? character
        : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
    );
}

/** A short foreign text within a sentence, on one line, as Markdown code. */
export function inlineCode(text: string, maxChars = 160): string {
  const shown = cut(text, maxChars);
  const line = visible(shown).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
  const marks = "`".repeat(longestRun(line) + 1);
  const pad = marks.length > 1 || line === "" ? " " : "";
  return `${marks}${pad}${line}${pad}${marks}${shown.length < text.length ? " …" : ""}`;
}

export interface BlockOptions {
  /** Which end is shown. */
  readonly keep: "start" | "end";
  /** @default 40 */
  readonly maxLines?: number | undefined;
}

/** The longest line that is shown, in UTF-16 code units. */
const maxLineChars = 200;

/**
 * Foreign text as a fenced Markdown block that its content cannot leave: the fence is longer than any run of
 * backticks within. Bounded; says how much is left out.
 */
export function codeBlock(text: string, options: BlockOptions): string {
  const { maxLines = 40 } = options;
  const lines = text.replace(/\n$/, "").split("\n");
  const kept = options.keep === "start" ? lines.slice(0, maxLines) : lines.slice(-maxLines);
  const shown = kept.map(
    (line) => visible(cut(line, maxLineChars)) + (line.length > maxLineChars ? " …" : ""),
  );
  const fence = "`".repeat(Math.max(3, longestRun(shown.join("\n")) + 1));
  const left = lines.length - kept.length;
  const note =
    left === 0 ? "" : `\n(${plural(left, "line")} more ${options.keep === "start" ? "below" : "above"})`;
  return `${fence}\n${shown.join("\n")}\n${fence}${note}`;
}

/** A number with its noun: "1 file", "2 files", "3 matches". */
export function plural(count: number, noun: string): string {
  const many = /(?:ch|sh|s|x)$/.test(noun) ? `${noun}es` : `${noun}s`;
  return `${count} ${count === 1 ? noun : many}`;
}

function longestRun(text: string): number {
  return [...text.matchAll(/`+/g)].reduce((longest, [run]) => Math.max(longest, run.length), 0);
}
