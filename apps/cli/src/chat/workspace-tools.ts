import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { WorkspaceAgentOptions } from "@harnesskit/workspace-agent";
import { workspaceTools } from "@harnesskit/workspace-agent/declarations";
import { jsonSchema, type Tool, type ToolSet } from "ai";

/** Of one output of a tool, so that a conversation stays readable. */
const limits: WorkspaceAgentOptions = { maxOutputBytes: 16_384 };

/** Loaded with the first call: a conversation may need no tool. */
const loadAgent = async () => (await import("@harnesskit/workspace-agent")).createWorkspaceAgent(limits);

/**
 * The workspace tools over a directory, in this process. What only reads runs at once; what writes or executes waits for an
 * approval, and then runs with the rights of the user.
 */
export const createWorkspaceTools = (directory: string): ToolSet => {
  let agent: ReturnType<typeof loadAgent> | undefined;
  const toTool = ({ name, description, inputSchema, effects }: (typeof workspaceTools)[number]): Tool => ({
    description,
    inputSchema: jsonSchema<JsonObject>(inputSchema),
    needsApproval: effects !== "read",
    execute: async (input: JsonObject, { abortSignal }) => {
      agent ??= loadAgent();
      return (await agent).call(name, input, {
        context: { project_root: directory },
        ...(abortSignal === undefined ? {} : { signal: abortSignal }),
      });
    },
  });
  return Object.fromEntries(workspaceTools.map((info) => [info.name, toTool(info)]));
};
