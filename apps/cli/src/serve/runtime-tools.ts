import type { CallOptions, CallResult, StreamChunk } from "@harnesskit/core-runtime";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { type PreparedCall, type Tool, ToolError, type ToolExecution } from "@harnesskit/thread-server";
import { type Prepared, PreparedSchema, prepareToolName } from "@harnesskit/workspace-agent/declarations";
import { toToolError } from "./call-failure.ts";
import type { HostCallOptions } from "./tool-host.ts";

/** Longer than the agent's own limits, which tell more. */
const prepareTimeoutMs = 60_000;
const runTimeoutMs = 11 * 60_000;

const caller = { type: "agent", id: "harness.serve" } as const;

/** Who calls the tools of an agent. */
export interface ToolCaller {
  call(
    tool: string,
    input: unknown,
    options: HostCallOptions,
    onChunk: (chunk: StreamChunk) => void,
  ): Promise<CallResult>;
}

/**
 * Tools of an agent of the runtime protocol as tools of a thread server. `prepare` asks the agent's own tool of that
 * name, and the call then carries what that returned, so that it does what was shown or nothing. What a tool may do
 * (`effects`) is what `tools` say, and not what the agent's process says.
 */
export const createRuntimeTools = (
  tools: readonly Omit<Tool, "prepare">[],
  host: ToolCaller,
): readonly Tool[] =>
  tools.map((tool) => ({
    ...tool,
    prepare: async (given, { threadId, directory, itemId }) => {
      const origin: CallOptions = {
        caller,
        correlationId: threadId,
        causationId: itemId,
        context: { project_root: directory },
      };
      const prepared = await prepare(host, { tool: tool.name, input: given ?? null }, origin);
      const { input, preview } = prepared;
      return {
        input,
        ...(preview !== undefined && { preview }),
        run: (execution) => run(host, tool.name, prepared, { ...origin, ...execution }),
      } satisfies PreparedCall;
    },
  }));

const prepare = async (
  host: ToolCaller,
  call: JsonObject | object,
  origin: CallOptions,
): Promise<Prepared> => {
  const options = { ...origin, timeoutMs: prepareTimeoutMs, isRepeatable: true };
  const result = await host.call(prepareToolName, call, options, () => {});
  if (result.status !== "succeeded") throw toToolError(result, { wasRun: false });
  const parsed = PreparedSchema.safeParse(result.output);
  if (!parsed.success)
    throw new ToolError("tool.failed", "The process of the tools did not prepare the call.");
  return parsed.data;
};

const run = async (
  host: ToolCaller,
  name: string,
  { input, expected }: Prepared,
  { signal, log, ...origin }: CallOptions & ToolExecution,
) => {
  let output: JsonObject | undefined;
  const onChunk = ({ channel, data, dropped = 0, missing = 0 }: StreamChunk) => {
    const lost = dropped + missing;
    if (lost > 0) log("stderr", `\n[${lost} pieces of output are missing here]\n`);
    if ("json" in data) output = data.json;
    else if (channel === "stdout" || channel === "stderr") log(channel, data.text);
    else if (channel === "log") log("stderr", `${data.text}\n`);
  };
  const options = { ...origin, signal, timeoutMs: runTimeoutMs };
  const result = await host.call(name, { ...input, expected }, options, watched(onChunk));
  if (result.status === "succeeded") return result.output;
  throw toToolError(result, { wasRun: true, output });
};

/** Who only watches cannot break a call: it goes on unwatched. */
const watched = (onChunk: (chunk: StreamChunk) => void) => {
  let isWatching = true;
  return (chunk: StreamChunk) => {
    if (!isWatching) return;
    try {
      onChunk(chunk);
    } catch {
      isWatching = false;
    }
  };
};
