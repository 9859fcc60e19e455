import { displayText } from "@harnesskit/wire";
import type { Style } from "../terminal/style.ts";

const unlimited = Number.POSITIVE_INFINITY;

/** Untrusted text as safe lines behind a bar, whole. */
export const blockLines = (text: string, style: Style): string[] =>
  toLines(text).map((line) => `  ${style.dim("│")} ${line}`.trimEnd());

/** A unified diff, untrusted, as safe and coloured lines behind a bar. */
export const diffLines = (diff: string, style: Style): string[] =>
  toLines(diff).map((line) => `  ${style.dim("│")} ${paint(line, style)}`.trimEnd());

const toLines = (text: string): string[] => {
  const body = text.endsWith("\n") ? text.slice(0, -1) : text;
  return displayText(body, { multiline: true, maxLength: unlimited }).replaceAll("\t", "    ").split("\n");
};

const paint = (line: string, style: Style): string => {
  if (/^(?:\+\+\+|---) /.test(line)) return style.bold(line);
  if (line.startsWith("@@")) return style.cyan(line);
  if (line.startsWith("+")) return style.green(line);
  if (line.startsWith("-")) return style.red(line);
  return line;
};
