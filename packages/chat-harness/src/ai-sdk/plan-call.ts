import type { NodeContext } from "@harnesskit/graph";
import type { ToolCall } from "@harnesskit/protocol/chat";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { digest } from "@harnesskit/wire";
import { nameMediaInText } from "@harnesskit/wire/model";
import { readOutputTool } from "@harnesskit/wire/replay";
import { asSchema, type Tool } from "ai";
import type { ApprovalRequest, ChatApprovalAnswer } from "./approval.ts";
import type { ChatSettings } from "./chat-graph-options.ts";
import type { ChatGraphFields, ChatState } from "./chat-state.ts";
import { factsOf, type ReadyCall } from "./chat-tools.ts";
import { type CallFailure, reasonText } from "./failure-text.ts";
import { readOutput } from "./read-output.ts";
import { failureEnd, needsApproval, readyCall, runTool, type ToolRun } from "./run-tool.ts";

/** What a node of a chat graph works with. */
export interface NodeScope {
  readonly chat: ChatSettings;
  readonly state: ChatState;
  readonly context: NodeContext<ChatGraphFields>;
}

/** What is to be done with a call. */
export type CallPlan =
  | { readonly kind: "fail"; readonly failure: CallFailure }
  | { readonly kind: "ask"; readonly request: ApprovalRequest }
  /** The answer to the approval cannot be used; `request` is what is asked about now, where that is something else. */
  | { readonly kind: "ask_again"; readonly problem: string; readonly request?: ApprovalRequest }
  | {
      readonly kind: "run";
      readonly input: JsonObject;
      /** To run it again where it may have run does no harm. */
      readonly isRepeatable: boolean;
      readonly run: () => Promise<string>;
    };

const notRun = (code: string, message: string) =>
  ({ kind: "fail", failure: { status: "not_run", code, message } }) as const;

/** What a tool is called with, checked by its schema; why not, if it does not fit. Never rejects. */
const checkInput = async (
  tool: Tool,
  given: unknown,
  run: Pick<ToolRun, "chat" | "call">,
): Promise<{ input: unknown } | { problem: string }> => {
  try {
    // A schema may change what it checks, and what is stored is not to be changed.
    const input: unknown = structuredClone(given);
    const checked = await asSchema(tool.inputSchema).validate?.(input);
    if (checked === undefined || checked.success)
      return { input: checked === undefined ? input : checked.value };
    return { problem: `The input does not fit the tool: ${reasonText(checked.error)}` };
  } catch (error) {
    return { problem: `The input could not be checked${failureEnd(error, false, run)}` };
  }
};

const toRequest = async (
  { id, name }: ToolCall,
  { input, preview }: Pick<ReadyCall, "input" | "preview">,
): Promise<ApprovalRequest | undefined> => {
  try {
    const bound = await digest({ tool: name, input });
    const request = { kind: "tool_approval", tool: name, call_id: id, input, digest: bound } as const;
    return preview === undefined ? request : { ...request, preview };
  } catch {
    return undefined;
  }
};

/** The result of a call whose input a person has changed, for the model. */
const editedText = (input: JsonObject, output: string): string =>
  JSON.stringify({ note: "The user approved this call with another input.", input, output });

/** An approval, and what it was given for. */
export interface GivenApproval {
  readonly answer: Extract<ChatApprovalAnswer, { decision: "approve" }>;
  readonly request: ApprovalRequest;
}

/** What is to be done with a call: one that was just asked for, or one that a person has approved. Rejects only when cancelled. */
export const planCall = async (
  call: ToolCall,
  { chat, state, context }: NodeScope,
  approval?: GivenApproval,
): Promise<CallPlan> => {
  const tools = await chat.tools(context.signal);
  const tool = tools[call.name];
  if (tool === undefined && call.name === readOutputTool.name) {
    const { arguments: input } = call;
    return { kind: "run", input, isRepeatable: true, run: async () => readOutput(state.messages, input) };
  }
  if (tool === undefined) {
    const known = Object.keys(tools);
    const others = known.length === 0 ? "There are no tools." : `There are: ${known.join(", ")}.`;
    return notRun("unknown_tool", `The tool ${JSON.stringify(call.name)} does not exist. ${others}`);
  }
  const edited = approval?.answer.input;
  const unfit = (code: string, problem: string): CallPlan =>
    edited === undefined ? notRun(code, problem) : { kind: "ask_again", problem };
  const checked = await checkInput(tool, edited ?? call.arguments, { chat, call });
  if ("problem" in checked) return unfit("invalid_input", checked.problem);
  const run = { chat, call, messages: state.messages, signal: context.signal };
  const ready = await readyCall(tool, checked.input, {
    ...run,
    threadId: context.sessionId,
    isApproved: approval !== undefined,
  });
  if ("problem" in ready) return unfit(ready.code, ready.problem);
  const { input, preview } = ready;
  const shown = {
    input: edited ?? input ?? call.arguments,
    preview,
  };
  const needed = approval === undefined && (await needsApproval(tool, checked.input, run));
  if (typeof needed === "string") return notRun("approval_undecided", needed);
  if (needed || (approval !== undefined && edited === undefined && ready.input !== undefined)) {
    const request = await toRequest(call, shown);
    if (request === undefined) {
      const message = "The input holds a string that is not valid Unicode, or is nested too deeply.";
      return notRun("invalid_input", message);
    }
    if (approval === undefined) return { kind: "ask", request };
    const { digest: before, preview: seen } = approval.request;
    if (request.digest !== before || request.preview !== seen) {
      return { kind: "ask_again", problem: "What would run has changed since it was shown.", request };
    }
  }
  return {
    kind: "run",
    input: shown.input,
    isRepeatable: factsOf(tool)?.isRepeatable === true,
    async run() {
      const output = await runTool(ready.tool, checked.input, run);
      return edited === undefined ? output : editedText(edited, nameMediaInText(output));
    },
  };
};
