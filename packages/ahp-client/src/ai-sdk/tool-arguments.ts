import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { displayText } from "@harnesskit/wire";
import type { Tool } from "ai";
import { describeLeftover, leftoverOf, readModification } from "../modification.ts";
import { byteLength } from "./clip.ts";
import { isSameJson } from "./is-same-json.ts";
import type { Judged } from "./judge.ts";
import { isNoJson, judgedCopy } from "./judged-copy.ts";
import { SupervisionError } from "./supervision-error.ts";
import { validateArguments } from "./tool-schema.ts";

/** A tool's arguments, and the JSON that says all of them. Nobody else holds `input`. */
export interface Arguments {
  readonly input: unknown;
  readonly text: string;
}

export interface ToolCall {
  readonly toolName: string;
  readonly toolCallId: string;
  readonly tool: Tool;
}

/** The arguments as they can be judged. Throws `unjudgeable` where the harness could not be shown all of them. */
export const toArguments = (toolName: string, given: unknown, maxBytes: number): Arguments => {
  const details = { eventType: "pre_action", toolName } as const;
  const input = judgedCopy(given);
  if (isNoJson(input)) throw new SupervisionError("unjudgeable", `the arguments: ${input.problem}`, details);
  const text = JSON.stringify(input) ?? "null";
  if (text.length <= maxBytes && byteLength(text) <= maxBytes) return { input, text };
  const reason = `the arguments have more than the ${maxBytes} bytes that an event may hold`;
  throw new SupervisionError("unjudgeable", reason, details);
};

/** All that would run, for a person. */
export const toArgumentsMessage = (toolName: string, { text }: Arguments): string => {
  const pretty = JSON.stringify(JSON.parse(text), undefined, 2);
  const all = displayText(pretty, { multiline: true, maxLength: Number.POSITIVE_INFINITY });
  return `Run the tool ${displayText(JSON.stringify(toolName))} with these arguments?\n${all}`;
};

/** How the call of a tool is judged: by all of its arguments, as they run. */
export const toJudgedCall = (
  { toolName, toolCallId, tool }: ToolCall,
  maxBytes: number,
): Judged<Arguments> => {
  const misfit = (reason: string) =>
    new SupervisionError("invalid_modification", reason, { eventType: "pre_action", toolName });
  const toPayload = ({ text }: Arguments): JsonObject => ({
    action_type: "tool_call",
    tool_name: toolName,
    tool_call_id: toolCallId,
    arguments: JSON.parse(text) as JsonValue,
  });
  return {
    eventType: "pre_action",
    toolName,
    toolCallId,
    toMessage: (value) => toArgumentsMessage(toolName, value),
    toPayload,
    async modify(value, modified) {
      const change = readModification(toPayload(value), modified, "arguments");
      if ("leftover" in change) throw misfit(describeLeftover(change.leftover, "arguments"));
      const { wanted } = change;
      if (isSameJson(JSON.stringify(wanted), value.text)) return value;
      const validated = await validateArguments(tool, wanted);
      if ("problem" in validated)
        throw misfit(`its arguments do not fit the tool's schema: ${validated.problem}`);
      const next = toArguments(toolName, validated.value, maxBytes);
      const leftover = leftoverOf(modified, toPayload(next));
      if (leftover) throw misfit(`by the tool's schema ${describeLeftover(leftover, "arguments")}`);
      return next;
    },
  };
};
