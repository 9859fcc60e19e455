import { type ApprovalRisk, presentApproval, startOfCall } from "@harnesskit/approvals";
import { type ApprovalMetadata, isPreviewCut } from "@harnesskit/protocol/threads";
import type { AlwaysChoice } from "../terminal/asker.ts";
import type { Style } from "../terminal/terminal.ts";
import { oneLine } from "../terminal/text.ts";
import { approvalViewLines, shownWhole } from "./approval-lines.ts";

/** What an agent of this program asks for: its tools, and those of other agents. */
export type AskedCall = Pick<ApprovalMetadata, "tool" | "input"> & {
  readonly preview?: string | undefined;
  /** Why it is asked: untrusted text. */
  readonly reason?: string | undefined;
};

/** What "always" holds for: exactly the call, or the command with other arguments, too. */
export type Reach = "exact" | "start";

/** What an answer for a command's start covers, for people. */
export const startHint = "with any plain arguments; no ; && | $( or new line";

/** How far "always" reaches. What is not shown whole is never allowed for always. */
export const alwaysChoices = (call: AskedCall, directory: string): readonly AlwaysChoice<Reach>[] => {
  if (isPreviewCut(call.preview)) return [];
  const where = `in ${oneLine(directory, 1000)}`;
  const start = startOfCall(call)?.command;
  const hint = `${startHint}, no path outside, ${where}`;
  return [
    { reach: "exact", label: "Always", hint: `for exactly this, ${where}` },
    ...(start === undefined ? [] : [{ reach: "start" as const, label: `Always ${start}*`, hint }]),
  ];
};

const effects: Readonly<Record<string, string>> = {
  bash: "It runs with your rights, in the whole system: there is no sandbox.",
  prompt: "The model is given it.",
  write: "It writes the file.",
  edit: "It writes the file.",
};

const background =
  "It runs on with your rights, until it ends, you ask to stop it, or this program ends. To see its output, ask for it.";

const effectOf = (tool: string, input: AskedCall["input"]): string =>
  tool === "bash" && input.background === true
    ? background
    : (effects[tool] ?? "What it does is up to the tool.");

const ranks: Readonly<Record<ApprovalRisk["level"], number>> = {
  low: 0,
  medium: 1,
  high: 2,
  unknown: 3,
  critical: 4,
};

/** Where and how a call is asked about. */
export interface AskedPlace {
  /** The directory that the call works in; undefined where it is not known. */
  readonly directory: string | undefined;
  /** What who asks says of the risk: it is shown where it is more than what the call is known to do. @default nothing */
  readonly saidRisk?: ApprovalRisk | undefined;
}

/** What the user decides on, as safe lines: whatever will happen is shown whole, or what is not is said. */
export const askedCallLines = async (
  { tool, input, preview, reason = "" }: AskedCall,
  { directory, saidRisk }: AskedPlace,
  style: Style,
): Promise<string[]> => {
  // The judge of commands is loaded only where something is asked.
  const { riskOfCall } = await import("../hub/risk.ts");
  const known = riskOfCall(tool, input, directory ?? "");
  const risk =
    saidRisk && ranks[saidRisk.level] > ranks[known.level] ? { ...known, level: saidRisk.level } : known;
  const view = presentApproval(
    { subject: { tool, input, preview }, rule: { id: "", reason }, risk },
    // The diff of these is made by this program; the preview of another tool is what its agent says of the call.
    { ...shownWhole, isExactPreview: tool === "write" || tool === "edit" },
  );
  return approvalViewLines(view, style, {
    where: directory === undefined ? undefined : `in ${oneLine(directory, 1000)}`,
    effect: effectOf(tool, input),
  });
};
