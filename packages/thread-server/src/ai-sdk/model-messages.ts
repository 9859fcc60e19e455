import type { Item, ItemData } from "@harnesskit/protocol/threads";
import { displayText } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { type MediaPlace, toModelOutput } from "@harnesskit/wire/model";
import type { ModelMessage, ProviderMetadata as ProviderOptions, ToolCallPart, ToolResultPart } from "ai";
import type { ToolOutcome } from "../turn-runner.ts";
import type { FileParts } from "./attached-files.ts";

type AssistantParts = Exclude<Extract<ModelMessage, { role: "assistant" }>["content"], string>;

/** What the model made in one step, and what came back. */
interface Step {
  readonly turnId: string;
  readonly number: number | undefined;
  readonly content: AssistantParts;
  readonly calls: { readonly index: number; readonly call: ToolCallPart; readonly result: ToolResultPart }[];
}

/**
 * Tells the model how a call ended. Refused by the user, blocked by the policy, failed, cancelled and unknown read
 * differently, because they call for different next steps.
 */
export const toToolResult = (
  toolCallId: string,
  toolName: string,
  outcome: ToolOutcome,
  place?: MediaPlace,
): ToolResultPart => ({
  type: "tool-result",
  toolCallId,
  toolName,
  output: toMediaOutput(outcome, place) ?? toResultOutput(outcome),
});

/** An output in MCP's form; behind the failure where it is what a call that failed has to show. */
const toMediaOutput = (
  { modelOutput, ...outcome }: ToolOutcome,
  place: MediaPlace | undefined,
): ToolResultPart["output"] | undefined => {
  const shown = toModelOutput(modelOutput ?? outcome.output, place)?.result;
  if (outcome.status === "succeeded" || shown?.type !== "content") {
    return outcome.status === "succeeded" ? shown : undefined;
  }
  const { status, code, error: message } = outcome;
  const failure = { type: "text" as const, text: JSON.stringify({ status, code, message }) };
  return { type: "content", value: [failure, ...shown.value] };
};

const toResultOutput = ({
  status,
  output,
  error = status,
  code = status,
}: ToolOutcome): ToolResultPart["output"] => {
  switch (status) {
    case "succeeded":
      return typeof output === "string"
        ? { type: "text", value: output }
        : { type: "json", value: output ?? null };
    case "rejected":
      return { type: "execution-denied", reason: error };
    case "blocked":
      return isUndecided(code)
        ? { type: "error-json", value: { status: "not_run", code, message: error } }
        : { type: "execution-denied", reason: `Blocked by policy: ${error}` };
    case "failed":
    case "cancelled":
    case "unknown": {
      const value = { status, code, message: error };
      return { type: "error-json", value: output === undefined ? value : { ...value, output } };
    }
  }
};

/** No policy forbade it: there was no answer, or none of use. */
const isUndecided = (code: string): boolean => code === "gate_failed" || code.startsWith("gate.");

/** The prompt as the model reads it. A file that was not read is named. */
const toUserMessage = ({ content }: ItemData<"user_message">, files?: FileParts): ModelMessage => {
  const parts = content.map((part) => {
    if (part.type === "text") return { type: "text" as const, text: part.text };
    const name = displayText(part.path ?? part.uri ?? "", { maxLength: 300 });
    return files?.get(part) ?? { type: "text" as const, text: `[attached file: ${name} (not included)]` };
  });
  return { role: "user", content: parts };
};

/** What a provider put beside a part goes back to it as the part's options. */
const optionsOf = ({ providerMetadata }: Pick<ItemData<"assistant_message">, "providerMetadata">) =>
  providerMetadata === undefined ? {} : { providerOptions: providerMetadata as ProviderOptions };

/** A message with the turn and the step that it is of; a prompt is of no step. */
export interface PlacedMessage {
  readonly turnId: string;
  readonly step?: number | undefined;
  readonly message: ModelMessage;
}

/** Rebuilds the conversation from completed items: each call with its result, each step as the model made it. */
export const toModelMessages = (items: readonly Item[], files?: FileParts): PlacedMessage[] => {
  const placed: PlacedMessage[] = [];
  let step: Step | undefined;
  const flush = () => {
    if (!step) return;
    const { content, calls, turnId, number = 0 } = step;
    const add = (message: ModelMessage) => placed.push({ turnId, step: number, message });
    // As the model made them, whichever ended first.
    calls.sort((one, other) => one.index - other.index);
    const parts = [...content, ...calls.map(({ call }) => call)];
    if (parts.length > 0) add({ role: "assistant", content: parts });
    if (calls.length > 0) add({ role: "tool", content: calls.map(({ result }) => result) });
    step = undefined;
  };
  const stepFor = (turnId: string, number: number | undefined, isText: boolean): Step => {
    const isOther = step?.turnId !== turnId || step.number !== number;
    if (step && (isOther || (isText && step.calls.length > 0))) flush();
    step ??= { turnId, number, content: [], calls: [] };
    return step;
  };
  for (const { type, turnId, itemId, data } of items) {
    if (!data) continue;
    if (type === "user_message") {
      flush();
      placed.push({ turnId, message: toUserMessage(data, files) });
    } else if (type === "assistant_message") {
      const { text, reasoning, step: number, ...beside } = data;
      if (text === "" && !beside.providerMetadata) continue;
      const part = {
        type: reasoning ? ("reasoning" as const) : ("text" as const),
        text,
        ...optionsOf(beside),
      };
      stepFor(turnId, number, true).content.push(part);
    } else if (type === "tool_exec") {
      const current = stepFor(turnId, data.step, false);
      const { callId: toolCallId = itemId, tool: toolName, input, output, error, code } = data;
      const { index = current.calls.length } = data;
      const status = data.status === "pending" || data.status === "running" ? "unknown" : data.status;
      const call = { type: "tool-call" as const, toolCallId, toolName, input, ...optionsOf(data) };
      const outcome = toToolResult(toolCallId, toolName, defined({ status, output, error, code }));
      current.calls.push({ index, call, result: withReference(outcome, itemId) });
    }
  }
  flush();
  return placed;
};

/** A result with the id by which its output is read again where the model is shown a part of it. `createReplay` takes it out. */
export const withReference = (result: ToolResultPart, reference: string | undefined): ToolResultPart =>
  reference === undefined ? result : Object.assign(result, { reference });
