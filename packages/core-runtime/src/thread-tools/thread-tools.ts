import type { JsonValue } from "@harnesskit/protocol/envelope";
import type { JsonSchema, Tool } from "@harnesskit/wire/tool";
import { checkThreadToolsOptions } from "../option-names.ts";
import { createHostedTool, type HostedCallOrigin, type ThreadTool } from "./hosted-tool.ts";
import type { ToolHost } from "./tool-host.ts";

export interface ThreadToolsOptions extends HostedCallOrigin {
  /** The agent that has the tools. */
  readonly agentId: string;
  /** What the tools may do (`effects`) is what these declarations say, and not what the agent's process says. */
  readonly tools: readonly (Pick<Tool, "name" | "description" | "effects"> & {
    readonly inputSchema: JsonSchema;
  })[];
  /** The host that calls the tools. */
  readonly host: Pick<ToolHost, "call" | "check">;
  /**
   * The agent's tool that prepares the calls of the others: it takes `{ tool, input }` and returns
   * `{ input, preview, expected }` without any effect. @default "prepare"
   */
  readonly prepareTool?: string | undefined;
  /** Whether an output of `prepareTool` is one of this agent. @default it has an `input`, and a `preview` that is a string */
  readonly isPrepared?: ((output: JsonValue) => boolean) | undefined;
}

/**
 * Tools of an agent whose declarations are known before it runs, as tools of a thread server. The agent prepares each
 * call, and what runs is what was shown, or nothing. Throws `invalid_argument` for invalid options.
 */
export const createThreadTools = (options: ThreadToolsOptions): readonly ThreadTool[] => {
  checkThreadToolsOptions(options);
  const { agentId, tools, prepareTool = "prepare", isPrepared = () => true, ...origin } = options;
  return tools.map(({ inputSchema, ...tool }) =>
    createHostedTool({
      ...tool,
      ...origin,
      id: `${agentId}/${tool.name}`,
      input: inputSchema,
      prepare: { id: `${agentId}/${prepareTool}`, isPrepared },
    }),
  );
};
