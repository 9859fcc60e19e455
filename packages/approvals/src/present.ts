import type { ApprovalRecord, ApprovalRisk } from "@harnesskit/protocol/hub";
import { isPreviewCut } from "@harnesskit/protocol/threads";
import { describeCall } from "./describe-call.ts";
import { riskOfSubject } from "./risk.ts";
import { type LineOptions, replacedLines, safeLine, toViewLines, type ViewLine } from "./view-lines.ts";

export interface PresentOptions extends LineOptions {
  /**
   * The preview was made of the input by the program that does the action. Then fields that it was made of are not shown again.
   * @default false: what the preview shows word for word is not shown again
   */
  readonly isExactPreview?: boolean | undefined;
}

export interface ViewPart {
  readonly kind: "command" | "prompt" | "diff" | "input";
  readonly label: string;
  readonly lines: readonly ViewLine[];
  /** The file that it changes, as the agent names it; absent where that is not known or is not one safe line. */
  readonly path?: string | undefined;
}

/** A record as safe parts. All strings are one line and hide nothing: invisible characters are written out as `⟨U+202E⟩`. */
export interface ApprovalView {
  /** What will be done, in words. */
  readonly title: string;
  /** The whole subject: each field of the input is in one of them, or in the title. */
  readonly parts: readonly ViewPart[];
  readonly risk: { readonly level: ApprovalRisk["level"]; readonly reasons: readonly string[] };
  /** The rule that asked; empty where it is not known. */
  readonly rule: string;
  /** Why it asked; empty where it is not known. */
  readonly reason: string;
  /** Agent, session, call, correlation and directory, as far as they are known. */
  readonly origin: readonly string[];
  readonly digest: string;
  /** Whether all of it is shown, by this view and by the preview itself. Otherwise no grant may be offered. */
  readonly isWhole: boolean;
}

/** What is presented: a record, or the action alone where the question is not one of a hub. */
export type Presented = Pick<ApprovalRecord, "subject"> &
  Partial<Pick<ApprovalRecord, "origin" | "risk" | "rule" | "digest">>;

const unknownRisk: ApprovalRisk = { level: "unknown", reasons: [] };
const noRule = { id: "", reason: "" };

/**
 * What a human decides on, as safe parts that every terminal and page shows alike. Pure; takes any record.
 */
export const presentApproval = (
  { origin, subject, risk: given = unknownRisk, rule = noRule, digest = "" }: Presented,
  { isExactPreview = false, ...options }: PresentOptions = {},
): ApprovalView => {
  const { title, parts: texts } = describeCall(subject, isExactPreview);
  const parts = texts.map(({ text, by, kind, label, path }) => ({
    kind,
    label,
    ...(path !== undefined && safeLine(path) === path && { path }),
    lines: by === undefined ? toViewLines(text, kind === "diff", options) : replacedLines(text, by, options),
  }));
  const isWhole =
    !isPreviewCut(subject.preview) && !parts.some(({ lines }) => lines.some(({ kind }) => kind === "cut"));
  const risk = riskOfSubject(subject, given);
  const known = [
    ["agent", origin?.agent],
    ["session", origin?.session],
    ["call", origin?.callId],
    ["work", origin?.correlationId],
    ["directory", origin?.directory],
  ] as const;
  return {
    title,
    parts,
    risk: { level: risk.level, reasons: risk.reasons.map((reason) => safeLine(reason, 4000)) },
    rule: safeLine(rule.id),
    reason: safeLine(rule.reason, 4000),
    origin: known.flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${safeLine(value)}`])),
    digest: safeLine(digest),
    isWhole,
  };
};
