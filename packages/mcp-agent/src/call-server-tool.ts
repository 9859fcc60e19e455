import { isObject } from "@harnesskit/wire/json";
import type { Clock } from "@harnesskit/wire/time";
import { withTraceMeta } from "@harnesskit/wire/trace";
import type { CallToolResult, Client, Progress, Tool } from "@modelcontextprotocol/client";
import type { McpTimes } from "./limits.ts";
import type { McpTool } from "./mcp-tool.ts";
import { carriedResult, readToolResult } from "./read-message.ts";
import type { Secrets } from "./secrets.ts";
import { endOfTask, inputRequired, readTask } from "./task.ts";

export interface ServerToolOptions {
  readonly times: McpTimes;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How far the call is. Untrusted. */
  readonly onStatus: (text: string) => void;
}

/** How long a server keeps a task that this agent began: as long as a core lets a call run. */
const taskTtlMs = 3_600_000;

const progressText = ({ progress, total, message }: Progress): string => {
  const share = total === undefined ? `${progress}` : `${progress}/${total}`;
  return message === undefined ? share : `${share} ${message}`;
};

/**
 * Calls a tool once. A task is followed to its end. Rejects as the SDK does, with a `ZodError` for what is not a result, and with
 * `mcp.input_required` where the server asks for input.
 */
export const callServerTool = async (
  client: Client,
  tool: McpTool,
  input: Record<string, unknown>,
  options: ServerToolOptions,
): Promise<CallToolResult> => {
  const { times, secrets, signal, onStatus } = options;
  const task = tool.isTask ? { task: { ttl: taskTtlMs } } : {};
  const answer = carriedResult(
    await client.callTool(withTraceMeta({ name: tool.mcpName, arguments: input, ...task }), {
      timeout: times.callTimeoutMs,
      resetTimeoutOnProgress: true,
      signal,
      onprogress: (progress) => onStatus(progressText(progress)),
      // By it inputs are repeated in headers. Without its output schema, which the SDK would compile.
      toolDefinition: { name: tool.mcpName, inputSchema: tool.inputSchema as Tool["inputSchema"] },
    }),
  );
  if (isObject(answer) && answer.resultType === "input_required")
    throw inputRequired(answer.inputRequests, secrets);
  const begun = readTask(answer);
  return begun ? endOfTask(client, begun, options) : readToolResult(answer);
};
