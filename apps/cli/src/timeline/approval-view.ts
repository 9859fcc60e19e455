import { type ApprovalDecision, type ApprovalMetadata, isPreviewCut } from "@harnesskit/protocol/threads";
import { displayText } from "@harnesskit/wire";
import type { Style } from "../terminal/terminal.ts";
import { oneLine } from "../terminal/text.ts";

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

/** The answers that are offered. What is not shown whole is never allowed for always. */
export const approvalChoices = ({
  preview,
}: ApprovalMetadata): { value: ApprovalDecision; label: string; hint?: string }[] => [
  { value: "once", label: "Yes, once" },
  ...(isPreviewCut(preview)
    ? []
    : [{ value: "always" as const, label: "Always", hint: "for exactly this, in this thread" }]),
  { value: "reject", label: "No" },
];

/** What the user decides on, as safe lines: whatever will happen is shown whole, or what is not is said. */
export const approvalLines = (
  { tool, input, preview, reason }: ApprovalMetadata,
  directory: string,
  style: Style,
): string[] => {
  const { head, body, effect } = describeRequest({ tool, input, preview }, style);
  return [
    `  ${style.yellow("?")} ${style.bold(head)}`,
    ...body,
    ...(reason === undefined ? [] : [`  because ${oneLine(reason, 500)}`]),
    style.dim(`  in ${oneLine(directory, 1000)}`),
    style.dim(`  ${effect}`),
    ...(isPreviewCut(preview) ? [`  ${style.yellow(cutText)}`] : []),
  ];
};

const cutText = "Part of it is not shown: it can be allowed once, not for always.";

interface Description {
  readonly head: string;
  readonly body: readonly string[];
  readonly effect: string;
}

const describeRequest = (
  { tool, input, preview }: { tool: string; input: ApprovalMetadata["input"]; preview: string | undefined },
  style: Style,
): Description => {
  const { command, path, ...others } = input;
  const name = oneLine(tool, 60);
  if (tool === "bash" && typeof command === "string") {
    const further = Object.keys(others).length === 0 ? [] : blockLines(pretty(others), style);
    return {
      head: "bash wants to run this command",
      body: [...blockLines(command, style), ...further],
      effect: "It runs with your rights, in the whole system: there is no sandbox.",
    };
  }
  const { text } = input;
  if (tool === "prompt" && typeof text === "string") {
    return {
      head: "the policy asks about this prompt",
      body: blockLines(text, style),
      effect: "The model is given it.",
    };
  }
  // The diff of these shows all of their input; the preview of another tool is what its agent says of the call.
  if (preview !== undefined && (tool === "write" || tool === "edit")) {
    const place = typeof path === "string" ? ` ${oneLine(path, 1000)}` : " this";
    return {
      head: `${name} wants to change${place}`,
      body: diffLines(preview, style),
      effect: "It writes the file.",
    };
  }
  return {
    head: `${name} wants to be called with this input`,
    body: [...blockLines(pretty(input), style), ...(preview === undefined ? [] : diffLines(preview, style))],
    effect: "What it does is up to the tool.",
  };
};

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);
