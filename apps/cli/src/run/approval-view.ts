import type { ApprovalMetadata } from "@harnesskit/thread-client";
import { oneLine } from "../terminal/one-line.ts";
import type { Style } from "../terminal/style.ts";
import { blockLines, diffLines } from "../timeline/diff-view.ts";

/** What the user decides on, as safe lines: whatever will happen is shown whole. */
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
  ];
};

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
