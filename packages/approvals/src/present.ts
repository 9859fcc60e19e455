import { isPreviewCut } from "@harnesskit/protocol/threads";
import { displayText } from "@harnesskit/wire";
import type { ApprovalRecord, ApprovalRisk } from "./record.ts";

export interface PresentOptions {
  /** Lines of one part that are shown; how many follow is said. @default 400 */
  readonly maxLines?: number;
  /** Characters of one part that are shown; how many follow is said. @default 50000 */
  readonly maxLength?: number;
}

/** What a line of a diff is, so that a page or a terminal can colour it. */
export type LineKind = "plain" | "added" | "removed" | "hunk" | "file" | "cut";

export interface ViewLine {
  readonly kind: LineKind;
  readonly text: string;
}

export interface ViewPart {
  readonly kind: "command" | "prompt" | "diff" | "input";
  readonly label: string;
  readonly lines: readonly ViewLine[];
}

/** A record as safe parts. All strings are one line and hide nothing: invisible characters are written out as `⟨U+202E⟩`. */
export interface ApprovalView {
  /** What will be done, in words. */
  readonly title: string;
  /** The whole subject: each field of the input is in one of them. */
  readonly parts: readonly ViewPart[];
  readonly risk: { readonly level: ApprovalRisk["level"]; readonly reasons: readonly string[] };
  /** The rule that asked. */
  readonly rule: string;
  /** Why it asked. */
  readonly reason: string;
  /** Agent, session, call and correlation, as far as they are known. */
  readonly origin: readonly string[];
  readonly digest: string;
  /** Whether all of it is shown, by this view and by the preview itself. Otherwise no grant may be offered. */
  readonly isWhole: boolean;
}

const line = (text: string, maxLength = 500): string => displayText(text, { maxLength });

const lineKindOf = (text: string): LineKind => {
  if (/^(?:\+\+\+|---) /.test(text)) return "file";
  if (text.startsWith("@@")) return "hunk";
  if (text.startsWith("+")) return "added";
  return text.startsWith("-") ? "removed" : "plain";
};

/** Untrusted text as safe lines. What is cut is counted in a last line. */
const toLines = (
  text: string,
  isDiff: boolean,
  { maxLines = 400, maxLength = 50_000 }: PresentOptions,
): ViewLine[] => {
  const body = text.endsWith("\n") ? text.slice(0, -1) : text;
  let kept = body.slice(0, maxLength).split("\n", maxLines).join("\n");
  // Half of a pair would be shown as another character.
  if (kept.length < body.length && /[\ud800-\udbff]$/.test(kept)) kept = kept.slice(0, -1);
  const lines = kept.split("\n").map((each): ViewLine => {
    const safe = displayText(each, { multiline: true, maxLength: Number.POSITIVE_INFINITY });
    return { kind: isDiff ? lineKindOf(each) : "plain", text: safe.replaceAll("\t", "    ") };
  });
  const missing = body.length - kept.length;
  if (missing === 0) return lines;
  const allLines = body.split("\n").length;
  return [...lines, { kind: "cut", text: `… [${missing} more characters; ${allLines} lines in all]` }];
};

type TextPart = Omit<ViewPart, "lines"> & {
  readonly text: string;
  /** What takes the place of the text. */
  readonly by?: string;
};

/** The fields in which tools that edit have the text that is replaced, and the one in its place. */
const replacements = [
  ["oldText", "newText"],
  ["old_string", "new_string"],
  ["old_str", "new_str"],
] as const;

/** A replacement as the lines that go and those that come. */
const replacedLines = (text: string, by: string, options: PresentOptions): ViewLine[] => {
  const side = (lines: readonly ViewLine[], kind: LineKind, sign: string) =>
    lines.map((each): ViewLine => (each.kind === "cut" ? each : { kind, text: `${sign}${each.text}` }));
  const added = by === "" ? [] : side(toLines(by, false, options), "added", "+");
  return [...side(toLines(text, false, options), "removed", "-"), ...added];
};

const inputPart = (input: object, label: string): TextPart[] =>
  Object.keys(input).length === 0 ? [] : [{ kind: "input", label, text: JSON.stringify(input, null, 2) }];

/** What will be done, by the fields that tools commonly have. Every field is shown. */
const describe = ({
  tool,
  input,
  preview,
}: ApprovalRecord["subject"]): { title: string; parts: TextPart[] } => {
  // Whole: tools may differ in the end of their names.
  const name = line(tool, Number.POSITIVE_INFINITY);
  const diff: TextPart[] = preview === undefined ? [] : [{ kind: "diff", label: "changes", text: preview }];
  const { command, ...besideCommand } = input;
  if (typeof command === "string") {
    const part: TextPart = { kind: "command", label: "command", text: command };
    return {
      title: `${name}: run this command`,
      parts: [part, ...diff, ...inputPart(besideCommand, "and with")],
    };
  }
  const { text, ...besideText } = input;
  if (tool === "prompt" && typeof text === "string") {
    const part: TextPart = { kind: "prompt", label: "prompt", text };
    return {
      title: "give this prompt to the model",
      parts: [part, ...diff, ...inputPart(besideText, "and with")],
    };
  }
  const path = input.path ?? input.file_path;
  const fields = replacements.find(
    ([old, next]) => typeof input[old] === "string" && typeof input[next] === "string",
  );
  if (preview === undefined && fields !== undefined && typeof path === "string") {
    const { [fields[0]]: text, [fields[1]]: by, ...besides } = input;
    const part: TextPart = { kind: "diff", label: "replaces", text: String(text), by: String(by) };
    return { title: `${name}: change ${line(path)}`, parts: [part, ...inputPart(besides, "input")] };
  }
  const place = typeof path === "string" ? line(path) : "what the diff shows";
  const title = preview === undefined ? `${name}: call it with this input` : `${name}: change ${place}`;
  return { title, parts: [...diff, ...inputPart(input, "input")] };
};

/**
 * What a human decides on, as safe parts that a terminal and a page show alike. Pure; takes any record.
 */
export const presentApproval = (
  {
    origin,
    subject,
    risk,
    rule,
    digest,
  }: Pick<ApprovalRecord, "origin" | "subject" | "risk" | "rule" | "digest">,
  options: PresentOptions = {},
): ApprovalView => {
  const { title, parts: texts } = describe(subject);
  const parts = texts.map(({ text, by, kind, label }) => ({
    kind,
    label,
    lines: by === undefined ? toLines(text, kind === "diff", options) : replacedLines(text, by, options),
  }));
  const isWhole =
    !isPreviewCut(subject.preview) && !parts.some(({ lines }) => lines.some(({ kind }) => kind === "cut"));
  const known = [
    ["agent", origin.agent],
    ["session", origin.session],
    ["call", origin.callId],
    ["work", origin.correlationId],
  ] as const;
  return {
    title,
    parts,
    risk: { level: risk.level, reasons: risk.reasons.map((reason) => line(reason, 4000)) },
    rule: line(rule.id),
    reason: line(rule.reason, 4000),
    origin: known.flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${line(value)}`])),
    digest: line(digest),
    isWhole,
  };
};
