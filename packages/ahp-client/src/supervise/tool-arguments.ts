import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { displayText, jsonDifference } from "@harnesskit/wire";
import { JsonError, utf8Length } from "@harnesskit/wire/json";
import { describeLeftover, leftoverOf, readModification } from "../modification.ts";
import type { Judged } from "./judge.ts";
import { judgedCopy } from "./judged-copy.ts";
import { SupervisionError } from "./supervision-error.ts";
import type { Validate } from "./validation.ts";

/** A tool's arguments, and the JSON that says all of them. No other code holds `input`. */
export interface Arguments {
  readonly input: unknown;
  readonly text: string;
}

export interface SupervisedCall {
  readonly toolName: string;
  readonly toolCallId: string;
  readonly input: unknown;
  readonly signal: AbortSignal | undefined;
  /** Reads arguments that the harness wants instead, as the tool's schema does. */
  readonly validate: Validate;
  /** Whether a person must approve these arguments; any answer but false means yes. @default no */
  readonly needsApproval?: ((input: unknown) => unknown) | undefined;
}

/** The arguments as they can be judged. Throws `unjudgeable` where the harness could not be shown all of them. */
export const toArguments = (toolName: string, given: unknown, maxBytes: number): Arguments => {
  const details = { eventType: "pre_action", toolName } as const;
  let input: unknown;
  try {
    input = judgedCopy(given);
  } catch (cause) {
    const message = JsonError.isInstance(cause) ? cause.message : "they cannot be read";
    throw new SupervisionError("unjudgeable", `the arguments: ${message}`, { ...details, cause });
  }
  const text = JSON.stringify(input) ?? "null";
  if (utf8Length(text) <= maxBytes) return { input, text };
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
  { toolName, toolCallId, validate }: SupervisedCall,
  maxBytes: number,
): Judged<Arguments> => {
  const invalidArguments = (reason: string) =>
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
      if ("leftover" in change) throw invalidArguments(describeLeftover(change.leftover, "arguments"));
      const { wanted } = change;
      if (!jsonDifference(wanted, JSON.parse(value.text))) return value;
      const validated = await validate(wanted);
      if ("problem" in validated)
        throw invalidArguments(`its arguments do not fit the tool's schema: ${validated.problem}`);
      const next = toArguments(toolName, validated.value, maxBytes);
      const leftover = leftoverOf(modified, toPayload(next));
      if (leftover) throw invalidArguments(`by the tool's schema ${describeLeftover(leftover, "arguments")}`);
      return next;
    },
  };
};
