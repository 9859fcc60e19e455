import type { ApprovalView, LineKind } from "@harnesskit/approvals";
import type { Style } from "../terminal/terminal.ts";

const painted = (kind: LineKind, text: string, style: Style): string => {
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
      return text;
  }
};

const riskText = ({ level, reasons }: ApprovalView["risk"], style: Style): string[] => {
  if (level === "unknown" && reasons.length === 0) return [];
  const paint =
    level === "critical" || level === "high" ? style.red : level === "low" ? style.dim : style.yellow;
  const why = reasons.length === 0 ? "" : `: ${reasons.join("; ")}`;
  return [`  ${paint(`risk ${level}${why}`)}`];
};

export interface ApprovalLinesOptions {
  /** Where it happens, or who asks: safe text. */
  readonly where?: string;
  /** What it means: safe text. */
  readonly effect?: string;
}

/** An approval at a terminal, the same in every command: what will happen, whole, why it is asked, and how dangerous it is. */
export const approvalViewLines = (
  view: ApprovalView,
  style: Style,
  { where, effect }: ApprovalLinesOptions = {},
): string[] => [
  `  ${style.yellow("?")} ${style.bold(view.title)}`,
  ...view.parts.flatMap(({ lines }) =>
    lines.map(({ kind, text }) => `  ${style.dim("│")} ${painted(kind, text, style)}`.trimEnd()),
  ),
  ...(view.reason === ""
    ? []
    : [`  because ${view.reason}${view.rule === "" ? "" : style.dim(` (rule ${view.rule})`)}`]),
  ...riskText(view.risk, style),
  ...(where === undefined ? [] : [style.dim(`  ${where}`)]),
  ...(effect === undefined ? [] : [style.dim(`  ${effect}`)]),
  ...(view.isWhole
    ? []
    : [`  ${style.yellow("Part of it is not shown: it can be allowed once, not for always.")}`]),
];
