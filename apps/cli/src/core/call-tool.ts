import type { CallResult, RunningCore, StreamChunk } from "@harnesskit/core-runtime";
import { readOwnFile } from "@harnesskit/node-kit";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { OutputReferenceSchema } from "@harnesskit/protocol/runtime";
import { displayText, shellWord } from "@harnesskit/wire";
import { isoTime } from "@harnesskit/wire/time";
import { ExitCode } from "../cli-error.ts";
import { io } from "../io.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { safeJson } from "../terminal/text.ts";
import { thisUser, withFile } from "./core-files.ts";

interface ToolCallRequest {
  readonly toolId: string;
  readonly input: unknown;
  readonly timeoutMs: number;
  /** The project that the call is for, absolute. @default none */
  readonly projectRoot?: string | undefined;
  /** The file of the grants that the user named. */
  readonly grants: string | undefined;
  /** Whether a directive is issued for exactly this call. */
  readonly issuesDirective: boolean;
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

const showChunk = ({ channel, data }: StreamChunk): string => {
  if ("json" in data) return `${safeJson(data.json)}\n`;
  const text = displayText(data.text, { multiline: true });
  return (channel === "status" || channel === "log") && !text.endsWith("\n") ? `${text}\n` : text;
};

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

const failedAt = ({ error }: Exclude<CallResult, { status: "succeeded" }>): string => {
  const { path } = error.details ?? {};
  return typeof path === "string" && path !== "" ? ` (at ${path})` : "";
};

/** What lets the call be made where something was missing. */
const remedy = (
  { error }: Exclude<CallResult, { status: "succeeded" }>,
  grants: string | undefined,
): string => {
  if (error.code === "tool.directive_required") return ", or call it with --directive";
  if (error.code === "tool.no_project_root") return ": name it with --project DIR";
  if (error.code === "tool.not_found") return ": --list shows the tools";
  return error.details?.missing === undefined || grants === undefined ? "" : ` --file ${shellWord(grants)}`;
};

/** Issues a directive for one call, soon, with exactly this input. */
const issueDirective = async (
  core: RunningCore,
  { toolId, input, timeoutMs }: ToolCallRequest,
): Promise<string> => {
  const { id } = await withFile(() =>
    core.directives.issue({
      tool_id: toolId,
      input: input as JsonObject,
      issued_by: { type: "human", id: thisUser() },
      until: isoTime(io().clock.now() + timeoutMs),
    }),
  );
  return id;
};

/**
 * Calls a tool once and shows what it says: the output on standard output, what it streams on standard error; with
 * `json`, everything on standard output as JSON lines. Returns the exit code.
 */
export const callAndShow = async (core: RunningCore, request: ToolCallRequest): Promise<ExitCode> => {
  const { toolId, input, timeoutMs, projectRoot, issuesDirective, signal, json, out, err } = request;
  const caller = { type: "human", id: "terminal" } as const;
  const call = core.call(toolId, input, {
    timeoutMs,
    signal,
    caller,
    context: projectRoot === undefined ? undefined : { project_root: projectRoot },
    directiveId: issuesDirective ? await issueDirective(core, request) : undefined,
  });
  let isLineOpen = false;
  for await (const chunk of call.stream) {
    if (json) {
      out.json({ type: "stream", ...chunk });
      await out.ready();
      continue;
    }
    const text = showChunk(chunk);
    err.write(text);
    isLineOpen = !text.endsWith("\n");
    await err.ready();
  }
  if (isLineOpen) err.say("");
  const result = await withWholeOutput(await call.result);
  if (json) out.json({ type: "result", call_id: call.callId, ...result });
  else if (result.status === "succeeded") out.json(result.output);
  else
    err.say(
      `harness core: ${result.error.code}: ${result.error.message}${failedAt(result)}${remedy(result, request.grants)}`,
    );
  return exitCodeOf(result);
};
