import type { CallResult, RunningCore, StreamChunk } from "@harnesskit/core-runtime";
import { readOwnFile } from "@harnesskit/node-kit";
import { OutputReferenceSchema } from "@harnesskit/protocol/runtime";
import { displayText } from "@harnesskit/wire";
import { ExitCode } from "../exit-code.ts";
import { oneLine } from "../terminal/one-line.ts";
import { safeJson } from "../terminal/safe-json.ts";
import type { Terminal } from "../terminal/terminal.ts";

export interface ToolCallRequest {
  readonly toolId: string;
  readonly input: unknown;
  readonly timeoutMs: number;
  readonly json: boolean;
  readonly signal: AbortSignal;
  readonly out: Terminal;
  readonly err: Terminal;
}

const maxWholeOutputBytes = 64 * 1024 * 1024;
const refusals = ["tool.forbidden", "tool.directive_required"];
const absences = ["agent.unavailable", "agent.lost", "core.closed"];

const exitCodeOf = (result: CallResult): ExitCode => {
  if (result.status === "succeeded") return ExitCode.done;
  const { code } = result.error;
  if (refusals.includes(code)) return ExitCode.refused;
  return absences.includes(code) ? ExitCode.unavailable : ExitCode.failed;
};

/** What a program printed is shown as it came; a status and an entry of a log are lines of their own. */
const showChunk = ({ channel, data }: StreamChunk): string => {
  if ("json" in data) return `${safeJson(data.json)}\n`;
  const text = displayText(data.text, { multiline: true });
  return (channel === "status" || channel === "log") && !text.endsWith("\n") ? `${text}\n` : text;
};

/** A file that an output is in goes with its agent: here is the last moment to read it. */
const withWholeOutput = async (result: CallResult): Promise<CallResult> => {
  if (result.status !== "succeeded") return result;
  const { data } = OutputReferenceSchema.safeParse(result.output);
  if (data === undefined || data.output_file.size_bytes > maxWholeOutputBytes) return result;
  try {
    const text = await readOwnFile(data.output_file.path, { maxBytes: maxWholeOutputBytes });
    return { ...result, output: JSON.parse(text.toString("utf8")) };
  } catch {
    return result;
  }
};

/** Where in the input the problem is. */
const placeOf = ({ error }: Exclude<CallResult, { status: "succeeded" }>): string => {
  const { path } = error.details ?? {};
  return typeof path === "string" && path !== "" ? ` (at ${oneLine(path, 300)})` : "";
};

/**
 * Calls a tool once and shows what it says: the output on standard output, what it streams on standard error; with
 * `json`, everything on standard output as JSON lines. Returns the exit code.
 */
export const callTool = async (core: RunningCore, request: ToolCallRequest): Promise<ExitCode> => {
  const { toolId, input, timeoutMs, signal, json, out, err } = request;
  const caller = { type: "human", id: "terminal" } as const;
  const call = core.call(toolId, input, { timeoutMs, signal, caller });
  let isLineOpen = false;
  for await (const chunk of call.stream) {
    if (json) {
      out.write(`${safeJson({ type: "stream", ...chunk })}\n`);
      await out.ready();
      continue;
    }
    const text = showChunk(chunk);
    err.write(text);
    isLineOpen = !text.endsWith("\n");
    await err.ready();
  }
  if (isLineOpen) err.write("\n");
  const result = await withWholeOutput(await call.result);
  if (json) out.write(`${safeJson({ type: "result", call_id: call.callId, ...result })}\n`);
  else if (result.status === "succeeded") out.write(`${safeJson(result.output)}\n`);
  else
    err.write(
      `harness core: ${result.error.code}: ${oneLine(result.error.message, 1000)}${placeOf(result)}\n`,
    );
  return exitCodeOf(result);
};
