import { presentApproval } from "@harnesskit/approvals";
import { type ApprovalDecision, type ApprovalMetadata, isPreviewCut } from "@harnesskit/protocol/threads";
import type { Style } from "../terminal/terminal.ts";
import { oneLine } from "../terminal/text.ts";
import { approvalViewLines, shownWhole } from "./approval-lines.ts";

/** What an agent of this program asks for: its tools, and those of other agents. */
export type AskedCall = Pick<ApprovalMetadata, "tool" | "input"> & {
  readonly preview?: string | undefined;
  /** Why it is asked: untrusted text. */
  readonly reason?: string | undefined;
};

/** The answers that are offered. What is not shown whole is never allowed for always. */
export const approvalChoices = ({
  preview,
}: Pick<AskedCall, "preview">): { value: ApprovalDecision; label: string; hint?: string }[] => [
  { value: "once", label: "Yes, once" },
  ...(isPreviewCut(preview)
    ? []
    : [{ value: "always" as const, label: "Always", hint: "for exactly this, in this thread" }]),
  { value: "reject", label: "No" },
];

const effects: Readonly<Record<string, string>> = {
  bash: "It runs with your rights, in the whole system: there is no sandbox.",
  prompt: "The model is given it.",
  write: "It writes the file.",
  edit: "It writes the file.",
};

/** What the user decides on, as safe lines: whatever will happen is shown whole, or what is not is said. */
export const askedCallLines = async (
  { tool, input, preview, reason = "" }: AskedCall,
  directory: string,
  style: Style,
): Promise<string[]> => {
  // The judge of commands is loaded only where something is asked.
  const { riskOfCall } = await import("../hub/risk.ts");
  const view = presentApproval(
    {
      subject: { tool, input, preview },
      rule: { id: "", reason },
      risk: riskOfCall(tool, input, directory),
    },
    // The diff of these is made by this program; the preview of another tool is what its agent says of the call.
    { ...shownWhole, isExactPreview: tool === "write" || tool === "edit" },
  );
  return approvalViewLines(view, style, {
    where: `in ${oneLine(directory, 1000)}`,
    effect: effects[tool] ?? "What it does is up to the tool.",
  });
};
