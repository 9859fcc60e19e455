import type { ChatMessage, ToolCall } from "@harnesskit/protocol/chat";
import { nameMediaInText } from "@harnesskit/wire/model";
import { headAndTail } from "@harnesskit/wire/replay";
import { settleWithin } from "@harnesskit/wire/time";
import { lastOutput, ToolError } from "@harnesskit/wire/tool";
import { recordOutcome, type Span, toolSpan, traced } from "@harnesskit/wire/trace";
import type { ModelMessage, Tool, ToolExecutionOptions } from "ai";
import { piecesBefore } from "./arrange-history.ts";
import type { ChatSettings } from "./chat-graph-options.ts";
import { factsOf, type ReadyCall } from "./chat-tools.ts";
import { failureText, reasonText } from "./failure-text.ts";
import { outputText } from "./output-text.ts";
import { toPromptPieces } from "./to-model-messages.ts";

export interface ToolRun {
  readonly chat: ChatSettings;
  readonly call: ToolCall;
  /** The conversation as it is stored. */
  readonly messages: readonly ChatMessage[];
  readonly signal: AbortSignal;
}

/** Calls code of a tool, for as long as `toolTimeoutMs`. */
const callTool = <T>({ chat, call, messages, signal }: ToolRun, work: (options: ToolExecutionOptions) => T) =>
  settleWithin(
    async (abortSignal) =>
      work({
        toolCallId: call.id,
        abortSignal,
        get messages(): ModelMessage[] {
          return toPromptPieces(piecesBefore(messages, call.id)).flat();
        },
      }),
    { name: call.name, signal, timeoutMs: chat.toolTimeoutMs, clock: chat.clock },
  );

/** The end of a sentence about a failure: what may be said of it. What only its own code can say goes to the operator. */
export const failureEnd = (
  error: unknown,
  isOwn: boolean,
  { chat, call }: Pick<ToolRun, "chat" | "call">,
) => {
  if (isOwn || ToolError.isInstance(error)) return `: ${reasonText(error)}`;
  chat.report(error, call.name);
  return ".";
};

/** Whether a call of the tool must wait for a person; why not, if that cannot be decided. Rejects only when cancelled. */
export const needsApproval = async (tool: Tool, input: unknown, run: ToolRun): Promise<boolean | string> => {
  const { needsApproval: asked } = tool;
  if (asked === undefined || typeof asked === "boolean") return asked ?? false;
  const settled = await callTool<unknown>(run, (options) => asked.call(tool, input, options));
  // Every answer but false needs a person.
  if (settled.status === "done") return settled.value !== false;
  run.signal.throwIfAborted();
  const end = failureEnd(settled.error, settled.status !== "failed", run);
  return `Whether it needs an approval could not be decided${end}`;
};

/**
 * The tool with its call prepared; why it cannot be prepared. A tool that prepares nothing is as it was. Rejects only when
 * cancelled.
 */
export const readyCall = async (
  tool: Tool,
  input: unknown,
  {
    threadId,
    isApproved,
    ...run
  }: ToolRun & { readonly threadId: string | null; readonly isApproved: boolean },
): Promise<
  | ({ readonly tool: Tool } & Partial<Pick<ReadyCall, "input" | "preview">>)
  | { readonly code: string; readonly problem: string }
> => {
  const prepare = factsOf(tool)?.prepare;
  if (prepare === undefined) return { tool };
  const scope = { callId: run.call.id, threadId: threadId ?? undefined };
  const settled = await callTool(run, ({ abortSignal: signal }) => prepare(input, { ...scope, signal }));
  run.signal.throwIfAborted();
  if (settled.status !== "done") {
    const code = ToolError.isInstance(settled.error) ? settled.error.code : "invalid_input";
    if (ToolError.isInstance(settled.error)) return { code, problem: reasonText(settled.error) };
    const end = failureEnd(settled.error, settled.status !== "failed", run);
    return { code, problem: `The call could not be prepared${end}` };
  }
  const { run: runPrepared, ...ready } = await settled.value;
  const execute: NonNullable<Tool["execute"]> = async (_input, { toolCallId: callId, abortSignal }) =>
    runPrepared({
      callId,
      signal: abortSignal ?? run.signal,
      stdout: () => {},
      stderr: () => {},
      approval: isApproved ? { id: run.call.id, by: "the user of the conversation" } : undefined,
    });
  return { ...ready, tool: { ...tool, execute } as Tool };
};

const shownOutput = async (tool: Tool, output: unknown, call: ToolCall, input: unknown): Promise<unknown> => {
  if (tool.toModelOutput !== undefined) {
    return outputText(await tool.toModelOutput({ toolCallId: call.id, input: input as never, output }));
  }
  return typeof output === "string" ? output : (JSON.stringify(output) ?? "null");
};

/** A result that is too long: its beginning, how much was left out, and its end. */
const shownEnds = (text: string, maxLength: number): string => {
  const note = (left: number) =>
    `[${left} characters left out, the output has ${text.length}: call the tool again for a part of it if they are needed]`;
  return headAndTail(text, Math.max(0, maxLength - note(text.length).length - 2), note);
};

/**
 * Runs a tool with checked input, and returns the content of its message: its output, or its failure. Never rejects: the history
 * must say of a cancelled call that it had begun.
 */
export const runTool = (tool: Tool, input: unknown, run: ToolRun): Promise<string> =>
  traced(
    () => toolSpan({ tool: run.call.name, callId: run.call.id, description: tool.description, input }),
    (span) => runChecked(tool, input, run, span),
  );

const runChecked = async (
  tool: Tool,
  input: unknown,
  run: ToolRun,
  span: Span | undefined,
): Promise<string> => {
  const { chat, call, signal } = run;
  const failed = (code: string, message: string) => {
    recordOutcome(span, { status: "failed", code });
    return failureText({ status: "failed", code, message });
  };
  const settled = await callTool(run, (options) =>
    lastOutput(tool.execute?.(input as never, options), options.abortSignal),
  );
  if (settled.status !== "done") {
    const unknown = "Whether it has done anything is not known.";
    if (signal.aborted) return failed("tool_cancelled", `The call was cancelled while it ran. ${unknown}`);
    if (settled.status === "timed_out")
      return failed("tool_timed_out", `The tool did not end within ${chat.toolTimeoutMs} ms. ${unknown}`);
    const code = ToolError.isInstance(settled.error) ? settled.error.code : "tool_failed";
    return failed(code, `The tool failed${failureEnd(settled.error, false, run)}`);
  }
  try {
    const text = await shownOutput(tool, settled.value, call, input);
    if (typeof text !== "string") return failed("tool_output_invalid", "The tool's output is not a string.");
    const bare = nameMediaInText(text);
    if (bare.length <= chat.maxResultLength) {
      recordOutcome(span, { status: "succeeded", output: bare });
      return nameMediaInText(text, chat.maxMediaLength);
    }
    const shown = shownEnds(bare, chat.maxResultLength);
    recordOutcome(span, { status: "succeeded", output: shown });
    return shown;
  } catch (error) {
    const end = failureEnd(error, false, run);
    return failed("tool_output_invalid", `The tool ran, but its output cannot be shown${end}`);
  }
};
