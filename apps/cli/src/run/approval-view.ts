import type { ApprovalDecision, ApprovalMetadata } from "@harnesskit/thread-client";
import { isPreviewCut } from "@harnesskit/thread-server";
import { oneLine } from "../terminal/one-line.ts";
import type { Style } from "../terminal/style.ts";
import { blockLines, diffLines } from "../timeline/diff-view.ts";

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
  const { head, body, effect } = describe({ tool, input, preview }, style);
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

const describe = (
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
  if (preview !== undefined) {
    const place = typeof path === "string" ? ` ${oneLine(path, 1000)}` : " this";
    return {
      head: `${name} wants to change${place}`,
      body: diffLines(preview, style),
      effect: "It writes the file.",
    };
  }
  return {
    head: `${name} wants to be called with this input`,
    body: blockLines(pretty(input), style),
    effect: "What it does is up to the tool.",
  };
};

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);
