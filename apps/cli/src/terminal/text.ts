import { displayName, displayText } from "@harnesskit/wire";
import stringWidth from "fast-string-width";
import { wrapAnsi } from "fast-wrap-ansi";
import { fromCodes, harmless, toCodes } from "./style.ts";

/** Untrusted text as one line of safe text, line ends shown as `⏎`, cut after `maxWidth` columns. */
export const oneLine = (text: string, maxWidth = 200): string => {
  const safe = displayText(text.slice(0, maxWidth * 4), { maxLength: Number.POSITIVE_INFINITY });
  const shown = safe.replaceAll("⟨U+000D⟩⟨U+000A⟩", "⏎ ").replaceAll("⟨U+000A⟩", "⏎ ").trimEnd();
  if (text.length <= maxWidth * 4 && stringWidth(shown) <= maxWidth) return shown;
  return `${cutToWidth(shown, maxWidth - 1)}…`;
};

const cutToWidth = (text: string, maxWidth: number): string => {
  if (stringWidth(text) <= maxWidth) return text;
  let width = 0;
  let kept = "";
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += stringWidth(segment);
    if (width > maxWidth) break;
    kept += segment;
  }
  return kept;
};

/** The name of a tool as one line of at most 40 columns; letters that are not ASCII are written out. */
export const toolName = (name: string): string => {
  const shown = displayName(name.slice(0, 160), { maxLength: Number.POSITIVE_INFINITY });
  return shown.length <= 40 ? shown : `${cutToWidth(shown, 39)}…`;
};

const unsafe = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;

const unicodeEscape = (character: string): string =>
  character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");

/** JSON with the same meaning as that of `JSON.stringify`, harmless on a terminal too: one line, or with `indent` lines of its own. */
export const safeJson = (value: unknown, indent = 0): string =>
  JSON.stringify(value, null, indent)
    .split("\n")
    .map((line) => line.replace(unsafe, unicodeEscape))
    .join("\n");

/** A time span as people read it: `340 ms`, `2.1 s`, `3 min 5 s`, `23 h 59 min`, `2 d 3 h`. */
export const formatDuration = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.floor(minutes / 1440)} d ${Math.floor(minutes / 60) % 24} h`;
};

/** Dollars: small sums to a hundredth of a cent. */
export const formatDollars = (dollars: number): string =>
  `$${dollars.toFixed(dollars > 0 && dollars < 0.1 ? 4 : 2)}`;

/** A moment as `2026-11-21 23:01`, with `seconds` as `2026-11-21 23:01:07`; local time. */
export const formatTime = (time: number, to: "minutes" | "seconds" = "minutes"): string => {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "unknown time    ";
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const seconds = to === "seconds" ? `:${two(date.getSeconds())}` : "";
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}${seconds}`;
};

const colour = `${String.fromCharCode(0x1b)}\\[\\d+m`;
const colours = new RegExp(colour, "g");
const prefixPattern = new RegExp(`^(?:${colour}|[ \\t])*(?:[│?✗✓⊘○●~›→◆-](?:${colour})* +)?(?:${colour})*`);

const hangOf = (prefix: string): string =>
  prefix
    .replaceAll(colours, "")
    .replace(/[^\s│]/g, " ")
    .replace("│", "┆");

/**
 * Breaks each line between words, so that it fits into so many columns; a word that is too long is left
 * whole, so that a path can still be copied. What follows a bar (`│`) is shown exactly: it is broken anywhere, and its
 * further lines follow `┆`. Wide characters count as two columns.
 */
export const wrapText = (text: string, columns: number | undefined, hang?: string): string => {
  if (columns === undefined) return text;
  const lines = toCodes(harmless(text), true).split("\n");
  return fromCodes(lines.map((line) => wrapLine(line, columns, hang)).join("\n"));
};

const wrapLine = (line: string, columns: number, givenHang: string | undefined): string => {
  if (stringWidth(line) <= columns) return line;
  const [prefix = ""] = prefixPattern.exec(line) ?? [];
  const hang = givenHang ?? hangOf(prefix);
  const isExact = hang.includes("┆");
  const room = Math.max(10, columns - stringWidth(hang));
  const wrapped = wrapAnsi(line.slice(prefix.length), room, { hard: isExact, trim: !isExact });
  return prefix + wrapped.split("\n").join(`\n${hang}`);
};

const minDescription = 18;

/** A term and, behind a gap, what it means. */
const definition = /^( +\S(?:.*?\S)??) {2,}(?=\S)/;

const wrapDefinition = (line: string, columns: number): string => {
  const [term = line] = definition.exec(line) ?? [];
  if (line.length <= columns || columns - term.length < minDescription) return line;
  const wrapped = wrapText(line.slice(term.length), columns - term.length);
  return term + wrapped.replaceAll("\n", `\n${" ".repeat(term.length)}`);
};

/**
 * A page of help for so many columns. Lines at the left are paragraphs; what a term means goes on below where it begins; other lines with a space before them, such as
 * commands to be copied, stay whole.
 */
export const wrapPage = (page: string, columns: number): string =>
  page
    .replace(/\n {20,}(?=\S)/g, " ")
    .replace(/^(\S.*)\n(?=\S)/gm, "$1 ")
    .split("\n")
    .map((line) => (line.startsWith(" ") ? wrapDefinition(line, columns) : wrapText(line, columns)))
    .join("\n");

const maxTitleLength = 80;

/** What a conversation or a thread is called by default: the first line of its first prompt, up to 80 characters. Not escaped. */
export const promptTitle = (prompt: string): string => {
  const [line = ""] = prompt.trim().split(/\r?\n/, 1);
  const characters = [...line];
  return characters.length <= maxTitleLength ? line : `${characters.slice(0, maxTitleLength - 1).join("")}…`;
};
