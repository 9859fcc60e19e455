import {
  type ApprovalView,
  foldEmpty,
  lineTokens,
  type PresentOptions,
  type Token,
  toViewLines,
  type ViewLine,
  type ViewPart,
} from "@harnesskit/approvals";
import type { Paint, Style } from "../terminal/style.ts";

/** A terminal can scroll back: what is asked is shown whole. */
export const shownWhole: PresentOptions = {
  maxLines: Number.MAX_SAFE_INTEGER,
  maxLength: Number.MAX_SAFE_INTEGER,
};

const asIs: Paint = (text) => text;

const tokenPaint = (kind: Token["kind"], style: Style): Paint => {
  const paints: Readonly<Partial<Record<Token["kind"], Paint>>> = {
    program: style.bold,
    operator: style.yellow,
    string: style.green,
    variable: style.cyan,
    flag: style.cyan,
    comment: style.dim,
    key: style.cyan,
    number: style.yellow,
  };
  return paints[kind] ?? asIs;
};

const painted = (part: ViewPart["kind"], { kind, text }: ViewLine, style: Style): string => {
  switch (kind) {
    case "added":
      return style.green(text);
    case "removed":
      return style.red(text);
    case "hunk":
      return style.cyan(text);
    case "file":
      return style.bold(text);
    case "cut":
      return style.yellow(text);
    default:
      return lineTokens(part, text)
        .map((token) => tokenPaint(token.kind, style)(token.text))
        .join("");
  }
};

/** A line of code in its colours. It must be safe text. */
export const codeLine = (kind: ViewPart["kind"], text: string, style: Style): string => {
  if (kind === "diff") return painted(kind, { kind: diffKind(text), text }, style);
  return painted(kind, { kind: "plain", text }, style);
};

const diffKind = (text: string): ViewLine["kind"] => {
  if (text.startsWith("@@")) return "hunk";
  if (text.startsWith("+")) return "added";
  return text.startsWith("-") ? "removed" : "plain";
};

const partLines = (kind: ViewPart["kind"], lines: readonly ViewLine[], style: Style): string[] =>
  foldEmpty(lines).map((line) => `  ${style.dim("│")} ${painted(kind, line, style)}`.trimEnd());

/** Untrusted text as safe lines behind a bar, whole; `diff` colours it as one. */
export const blockLines = (text: string, style: Style, kind: "prompt" | "diff" = "prompt"): string[] =>
  partLines(kind, toViewLines(text, kind === "diff", shownWhole), style);

const riskLines = ({ level, reasons }: ApprovalView["risk"], style: Style): string[] => {
  const paint = level === "low" ? style.dim : level === "medium" ? style.yellow : style.red;
  const shown = level === "unknown" ? "unknown, to be handled as high" : level;
  const why = reasons.length === 0 ? "" : `: ${reasons.join("; ")}`;
  return [`  ${paint(`risk ${shown}${why}`)}`];
};

export interface ApprovalLinesOptions {
  /** Where it happens, or who asks: safe text. */
  readonly where?: string | undefined;
  /** What it means: safe text. */
  readonly effect?: string | undefined;
}

/** An approval at a terminal, the same in every command: what will happen, whole, why it is asked, and how dangerous it is. */
export const approvalViewLines = (
  view: ApprovalView,
  style: Style,
  { where, effect }: ApprovalLinesOptions = {},
): string[] => [
  `  ${style.yellow("?")} ${style.bold(view.title)}`,
  ...view.parts.flatMap(({ kind, lines }) => partLines(kind, lines, style)),
  ...(view.reason === ""
    ? []
    : [`  because ${view.reason}${view.rule === "" ? "" : style.dim(` (rule ${view.rule})`)}`]),
  ...riskLines(view.risk, style),
  ...(where === undefined ? [] : [style.dim(`  ${where}`)]),
  ...(effect === undefined ? [] : [style.dim(`  ${effect}`)]),
  ...(view.isWhole
    ? []
    : [`  ${style.yellow("Part of it is not shown: it can be allowed once, not for always.")}`]),
];
