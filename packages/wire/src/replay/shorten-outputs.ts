import { isObject } from "../json/json.ts";
import { readOutputTool } from "./read-output.ts";
import {
  jsonText,
  lengthOfMessage,
  lengthOfMessages,
  lengthOfOutput,
  type Part,
  partsOf,
  type ReplayMessage,
} from "./replayed-message.ts";
import { headAndTail } from "./well-formed.ts";

const mark = (length: number, reference: unknown): string => {
  const how =
    reference === undefined
      ? "call the tool again if they are needed"
      : `to read them: ${readOutputTool.name} ${JSON.stringify({ id: reference })}`;
  return `[${length} characters left out, to fit the model's context: ${how}]`;
};

const isMark = (value: unknown): boolean =>
  typeof value === "string" && value.includes(`${readOutputTool.name} {`);

/** What a host keeps of an output that is too long for it: the rest can be read by its reference. */
const isKeptInPart = (
  value: unknown,
): value is { readonly length: number; readonly head: string; readonly tail: string } =>
  isObject(value) &&
  value.truncated === true &&
  typeof value.length === "number" &&
  typeof value.head === "string" &&
  typeof value.tail === "string";

/** A result of which its host keeps the beginning and the end says so, and how the rest is read. */
const markKept = (part: Part): Part => {
  const { value, ...output } = isObject(part.output) ? part.output : {};
  if (part.type !== "tool-result" || !isKeptInPart(value) || part.reference === undefined) return part;
  const rest = mark(value.length - value.head.length - value.tail.length, part.reference);
  return { ...part, output: { ...output, value: { ...value, rest } } };
};

/** Whether a mark in these messages names {@link readOutputTool}. */
export const refersToOutputs = (messages: readonly ReplayMessage[]): boolean =>
  messages.some(
    (message) =>
      message.role === "tool" &&
      partsOf(message).some(
        ({ output }) => isObject(output) && isMark(isObject(output.value) ? output.value.rest : output.value),
      ),
  );

/** Characters that an older output keeps, of its beginning and its end together, and the part of the room that this is at most. */
const keptLength = 1000;
const keptShare = 0.01;

/** A result whose output is text of about `maxLength` characters: its beginning and its end. */
const cutResult = (part: Part, maxLength: number): Part => {
  if (part.type !== "tool-result") return part;
  const length = lengthOfOutput(part.output);
  if (length <= maxLength + mark(length, part.reference).length) return part;
  const { type, value, reason } = isObject(part.output) ? part.output : {};
  const text = type === "content" ? "" : jsonText(value ?? reason);
  const note = (left: number) => mark(length - text.length + left, part.reference);
  const isError = type === "error-text" || type === "error-json";
  return {
    ...part,
    output: { type: isError ? "error-text" : "text", value: headAndTail(text, maxLength, note) },
  };
};

const cutResults = <Message extends ReplayMessage>(message: Message, maxLength: number): Message => {
  const parts = partsOf(message);
  const cut = parts.map((part) => cutResult(markKept(part), maxLength));
  return cut.every((part, index) => part === parts[index]) ? message : { ...message, content: cut };
};

/**
 * The same conversation with less of its tools' outputs, where it is longer than `maxLength` characters. The outputs of one step have a
 * half of the room, wherever they stand. Those before the last step keep 1,000 characters, or a hundredth of the room, the oldest first. What is cut says so, and by
 * the `reference` of its part how it is read again. Cuts grow by quarters of the room: the beginning stays the same for a while, and can be cached.
 */
export const shortenOutputs = <Message extends ReplayMessage>(
  messages: readonly Message[],
  maxLength: number,
): readonly Message[] => {
  const short = messages.map((message) => {
    if (message.role !== "tool") return message;
    return cutResults(message, Math.floor(maxLength / 2 / Math.max(partsOf(message).length, 1)));
  });
  const lastStep = messages.findLastIndex(({ role }) => role === "assistant");
  const kept = Math.min(keptLength, Math.floor(maxLength * keptShare));
  const quarter = Math.max(maxLength / 4, 1);
  let excess = Math.ceil((lengthOfMessages(short) - maxLength) / quarter) * quarter;
  for (let index = 0; index < lastStep && excess > 0; index++) {
    const message = short[index] as Message;
    if (message.role !== "tool") continue;
    const cut = cutResults(message, kept);
    excess -= lengthOfMessage(message) - lengthOfMessage(cut);
    short[index] = cut;
  }
  return short;
};
