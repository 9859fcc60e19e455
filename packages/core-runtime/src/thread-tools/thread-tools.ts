import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { isPlainObject } from "@harnesskit/wire/json";
import {
  type JsonSchema,
  type PreparedCall,
  type Tool,
  type ToolContext,
  ToolError,
  type ToolScope,
} from "@harnesskit/wire/tool";
import type { CallOptions } from "../call-options.ts";
import type { CallResult } from "../call-result.ts";
import type { StreamChunk } from "../call-stream.ts";
import type { AgentHost } from "./agent-host.ts";

/** Longer than the agent's own limits, which give a better reason. */
const prepareTimeoutMs = 60_000;
const runTimeoutMs = 11 * 60_000;

/** What the agent's `prepare` tool returns: the canonical input, what a human judges, and what the call is bound to. */
interface Prepared {
  readonly input: JsonObject;
  readonly preview?: string;
  readonly expected?: JsonValue;
}

const hasParts = (value: JsonValue): value is JsonValue & Prepared =>
  isPlainObject(value) &&
  isPlainObject(value.input) &&
  (value.preview === undefined || typeof value.preview === "string");

export interface ThreadToolsOptions {
  /** What the tools may do (`effects`) is what these declarations say, and not what the agent's process says. */
  readonly tools: readonly (Pick<Tool, "name" | "description" | "effects"> & {
    readonly inputSchema: JsonSchema;
  })[];
  readonly host: Pick<AgentHost, "call">;
  /** The caller in the core's audit log. @default "thread-server" */
  readonly callerId?: string;
  /**
   * The agent's tool that prepares the calls of the others: it takes `{ tool, input }` and returns
   * `{ input, preview, expected }` without any effect. @default "prepare"
   */
  readonly prepareTool?: string;
  /** Whether an output of `prepareTool` is one of this agent. @default it has an `input`, and a `preview` that is a string */
  readonly isPrepared?: (output: JsonValue) => boolean;
}

/** A tool that is prepared before it runs. */
export interface ThreadTool extends Tool {
  prepare(input: unknown, scope: ToolScope): Promise<PreparedCall & Required<Pick<PreparedCall, "run">>>;
}

/**
 * Tools of an agent as tools of a thread server. Each call is prepared by the agent, and then runs with `expected` of what
 * was prepared: it does what was shown, or nothing. A tool that requires a directive gets one for exactly the call that a
 * human approved, once; without an approval it is refused (`tool.directive_required`).
 */
export const createThreadTools = ({
  tools,
  host,
  callerId = "thread-server",
  prepareTool = "prepare",
  isPrepared = () => true,
}: ThreadToolsOptions): readonly ThreadTool[] =>
  tools.map(({ name, description, effects, inputSchema }) => {
    const prepare: ThreadTool["prepare"] = async (given, { threadId, directory, callId }) => {
      const origin: CallOptions = {
        caller: { type: "agent", id: callerId },
        ...(threadId !== undefined && { correlationId: threadId }),
        causationId: callId,
        ...(directory !== undefined && { context: { project_root: directory } }),
      };
      const options = { ...origin, timeoutMs: prepareTimeoutMs, isRepeatable: true };
      const call = { tool: name, input: given ?? null };
      const prepared = toPrepared(await host.call(prepareTool, call, options, () => {}), isPrepared);
      const { input, preview } = prepared;
      return {
        input,
        ...(preview !== undefined && { preview }),
        run: (context) => run(host, name, prepared, origin, context),
      };
    };
    return {
      name,
      description,
      input: inputSchema,
      ...(effects !== undefined && { effects }),
      prepare,
      run: async (input, context) => (await prepare(input, context)).run(context),
    };
  });

const toPrepared = (result: CallResult, isPrepared: (output: JsonValue) => boolean): Prepared => {
  if (result.status !== "succeeded") throw toToolError(result, { wasRun: false });
  if (hasParts(result.output) && isPrepared(result.output)) return result.output;
  throw new ToolError("tool.failed", "The process of the tools did not prepare the call.");
};

const run = async (
  host: ThreadToolsOptions["host"],
  name: string,
  { input, expected }: Prepared,
  origin: CallOptions,
  { signal, stdout, stderr, approval }: ToolContext,
): Promise<JsonValue> => {
  let output: JsonObject | undefined;
  const onChunk = ({ channel, data, dropped = 0, missing = 0 }: StreamChunk) => {
    const lost = dropped + missing;
    if (lost > 0) void stderr(`\n[${lost} pieces of output are missing here]\n`);
    if ("json" in data) output = data.json;
    else if (channel === "stdout") void stdout(data.text);
    else if (channel === "stderr") void stderr(data.text);
    else if (channel === "log") void stderr(`${data.text}\n`);
  };
  const options = { ...origin, signal, timeoutMs: runTimeoutMs, ...(approval && { approval }) };
  const call = expected === undefined ? input : { ...input, expected };
  const result = await host.call(name, call, options, untilItThrows(onChunk));
  if (result.status === "succeeded") return result.output;
  throw toToolError(result, { wasRun: true, output });
};

/** An observer that throws does not break the call: it gets no more chunks. */
const untilItThrows = (onChunk: (chunk: StreamChunk) => void) => {
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

/** After these it is unknown how far a call came that the agent had received. */
const openEnds: ReadonlySet<string> = new Set(["agent.lost", "core.closed", "protocol.invalid_message"]);

/** The failure of a call: cancelled, timed out, refused, unavailable and lost keep codes of their own. */
const toToolError = (
  { error }: Exclude<CallResult, { status: "succeeded" }>,
  { wasRun, output }: { readonly wasRun: boolean; readonly output?: JsonValue | undefined },
): ToolError => {
  const more = output === undefined ? {} : { output };
  const { code, message, where } = error;
  if (code === "tool.canceled") return new ToolError("tool.cancelled", "The call was cancelled.", more);
  // The agent's tools use this code for a file, the core uses it for the tool.
  if (code === "tool.not_found" && where === "core") {
    return new ToolError("agent.unavailable", "The process of the tools has no such tool now.", more);
  }
  if (wasRun && openEnds.has(code)) {
    const text = "The process that ran the tool is gone. It may have run, wholly or in part.";
    return new ToolError(code, text, { ...more, mayHaveRun: true });
  }
  return new ToolError(code, message, more);
};
