import type { ApprovalRequest } from "@harnesskit/chat-harness";
import type { ApprovalLook } from "@harnesskit/shell-engine-chat";
import { workspaceTools } from "@harnesskit/workspace-agent/declarations";

const effects = new Map(workspaceTools.map((tool) => [tool.name, tool.effects] as const));

/** How a shell asks for a call of a workspace tool: with its directory, and as dangerous where it executes. */
export const describeCall =
  (directory: string) =>
  ({ tool, problem }: ApprovalRequest): ApprovalLook => {
    const isExecuting = effects.get(tool) !== "write";
    const again = problem === undefined ? "" : `It is asked again: ${problem}. `;
    const what = isExecuting ? "may do whatever you may do" : "changes files";
    return {
      message: `${again}It works in ${directory}, and ${what}.`,
      riskTier: isExecuting ? "dangerous" : "caution",
    };
  };
