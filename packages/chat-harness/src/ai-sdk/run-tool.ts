import type { ChatMessage, ToolCall } from "@harnesskit/protocol/chat";
import { asSchema, type ModelMessage, type Tool, type ToolExecutionOptions } from "ai";
import { piecesBefore } from "./arrange-history.ts";
import type { ChatSettings } from "./chat-graph-options.ts";
import { DeadlineError, withDeadline } from "./deadline.ts";
import { type CallFailure, type CallFailureCode, failureText, reasonOf } from "./failure-text.ts";
import { outputText } from "./from-model-messages.ts";
import { toModelPrompt } from "./to-model-messages.ts";

/** What a tool is called with: checked, or why not. */
export type CheckedInput = { readonly input: unknown } | { readonly failure: CallFailure };

const failed = (code: CallFailureCode, message: string): CallFailure => ({ status: "failed", code, message });
const notRun = (code: CallFailureCode, message: string): CallFailure => ({
  status: "not_run",
  code,
  message,
});

/** Checks arguments by the schema of the tool. Never rejects. */
export const checkInput = async (tool: Tool, given: unknown): Promise<CheckedInput> => {
  try {
    // A schema may change what it checks, and what is stored is not to be changed.
    const input: unknown = structuredClone(given);
    const { validate } = asSchema(tool.inputSchema);
    const checked = validate === undefined ? { success: true as const, value: input } : await validate(input);
    if (checked.success) return { input: checked.value };
    return {
      failure: notRun("invalid_input", `The input does not fit the tool: ${reasonOf(checked.error)}`),
    };
  } catch (error) {
    return { failure: notRun("invalid_input", `The input could not be checked: ${reasonOf(error)}`) };
  }
};

export interface ToolRun {
  readonly chat: ChatSettings;
  readonly call: ToolCall;
  /** The conversation as it is stored. */
  readonly messages: readonly ChatMessage[];
  readonly signal: AbortSignal;
}

/** What a tool is told beside its input. */
const executionOptions = ({ call, messages }: ToolRun, abortSignal: AbortSignal): ToolExecutionOptions => ({
  toolCallId: call.id,
  abortSignal,
  get messages(): ModelMessage[] {
    return toModelPrompt(piecesBefore(messages, call.id));
  },
});

/** Whether a call of the tool has to wait for a person; a failure where that cannot be found out, and then it does not run. */
export const needsApproval = async (
  tool: Tool,
  input: unknown,
  run: ToolRun,
): Promise<boolean | CallFailure> => {
  const { needsApproval: asked } = tool;
  if (asked === undefined || typeof asked === "boolean") return asked ?? false;
  const { chat, signal } = run;
  try {
    const timing = { signal, timeoutMs: chat.toolTimeoutMs, clock: chat.clock };
    const answer: unknown = await withDeadline(timing, async (abortSignal) =>
      asked.call(tool, input, executionOptions(run, abortSignal)),
    );
    // Anything but a clear no needs a person.
    return answer !== false;
  } catch (error) {
    signal.throwIfAborted();
    const message = `Whether it needs an approval could not be decided: ${reasonOf(error)}`;
    return notRun("approval_undecided", message);
  }
};

const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;

/** Outputs of one call of a tool that gives several: one that never waits would keep the deadline from passing. */
const maxOutputs = 100_000;

/** What a tool gives: of one that gives several outputs, the last. */
const outputOf = async (given: unknown, signal: AbortSignal): Promise<unknown> => {
  const output = await given;
  if (!isIterable(output)) return output;
  let last: unknown;
  let count = 0;
  for await (const value of output) {
    signal.throwIfAborted();
    if (++count > maxOutputs) throw new RangeError(`it gave more than ${maxOutputs} outputs`);
    last = value;
  }
  return last;
};

const textOf = async (tool: Tool, output: unknown, call: ToolCall, input: unknown): Promise<string> => {
  if (tool.toModelOutput !== undefined) {
    return outputText(await tool.toModelOutput({ toolCallId: call.id, input: input as never, output }));
  }
  return typeof output === "string" ? output : (JSON.stringify(output) ?? "null");
};

const bounded = (text: unknown, { maxResultLength }: ChatSettings): string => {
  if (typeof text !== "string")
    return failureText(failed("tool_output_invalid", "The tool's output is no text."));
  if (text.length <= maxResultLength) return text;
  const sizes = `${text.length} characters, and ${maxResultLength} are taken`;
  return failureText(
    failed("tool_output_too_large", `The tool ran, but its output has ${sizes}. Ask for less.`),
  );
};

/**
 * Runs a tool with checked input, and gives the text of its message: its output, or why there is none. Never rejects: of a
 * call that was cancelled it has to be known that it had begun.
 */
export const runTool = async (tool: Tool, input: unknown, run: ToolRun): Promise<string> => {
  const { chat, call, signal } = run;
  const { toolTimeoutMs: timeoutMs, clock } = chat;
  let output: unknown;
  try {
    output = await withDeadline({ signal, timeoutMs, clock }, async (abortSignal) =>
      outputOf(tool.execute?.(input as never, executionOptions(run, abortSignal)), abortSignal),
    );
  } catch (error) {
    if (signal.aborted) {
      const message = "The call was cancelled while it ran. Whether it has done anything is not known.";
      return failureText(failed("tool_cancelled", message));
    }
    if (DeadlineError.isInstance(error)) {
      const message = `The tool did not end within ${timeoutMs} ms. Whether it has done anything is not known.`;
      return failureText(failed("tool_timed_out", message));
    }
    return failureText(failed("tool_failed", `The tool failed: ${reasonOf(error)}`));
  }
  try {
    return bounded(await textOf(tool, output, call, input), chat);
  } catch (error) {
    const message = `The tool ran, but its output cannot be told: ${reasonOf(error)}`;
    return failureText(failed("tool_output_invalid", message));
  }
};
