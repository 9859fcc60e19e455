import { isObject } from "../json/json.ts";
import { type MendedMessage, type Part, partsOf } from "./replayed-message.ts";
import { firstCharacters, lastCharacters } from "./well-formed.ts";

/** Characters that a file counts as, whatever its size: providers count pages and pixels. */
const fileLength = 6000;
/** Characters that a part counts as beside its content. */
const partLength = 40;

const jsonText = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");

const lengthOfOutput = (output: unknown): number => {
  const { type, value, reason } = isObject(output) ? output : {};
  if (type !== "content") return jsonText(value ?? reason).length;
  return partsOf({ role: "tool", content: value }).reduce((sum, part) => sum + lengthOfPart(part), 0);
};

const lengthOfPart = (part: Part): number => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return jsonText(part.text).length + jsonText(part.providerOptions).length + partLength;
    case "tool-call":
      return jsonText(part.input).length + jsonText(part.providerOptions).length + partLength;
    case "tool-result":
      return lengthOfOutput(part.output) + partLength;
    default:
      return fileLength;
  }
};

const lengthOfMessage = (message: MendedMessage): number =>
  partsOf(message).reduce((sum, part) => sum + lengthOfPart(part), 0);

/** The characters that a model reads of a conversation, about. */
export const lengthOfMessages = (messages: readonly MendedMessage[]): number =>
  messages.reduce((sum, message) => sum + lengthOfMessage(message), 0);

const mark = (length: number): string =>
  `[${length} characters left out, to fit the model's context: call the tool again if they are needed]`;

/** A result whose output is text of about `maxLength` characters: its beginning and its end. */
const cutResult = (part: Part, maxLength: number): Part => {
  const length = lengthOfOutput(part.output);
  if (length <= maxLength + mark(length).length) return part;
  const { type, value, reason } = isObject(part.output) ? part.output : {};
  const text = type === "content" ? "" : jsonText(value ?? reason);
  const half = Math.floor(maxLength / 2);
  const [head, tail] = half < 1 ? ["", ""] : [firstCharacters(text, half), lastCharacters(text, half)];
  const left = mark(length - head.length - tail.length);
  const isError = type === "error-text" || type === "error-json";
  return {
    ...part,
    output: {
      type: isError ? "error-text" : "text",
      value: [head, left, tail].filter((piece) => piece !== "").join("\n"),
    },
  };
};

const cutResults = (message: MendedMessage, maxLength: number): MendedMessage => ({
  ...message,
  content: partsOf(message).map((part) => cutResult(part, maxLength)),
});

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;

const withNote = (messages: readonly MendedMessage[], dropped: number, cut: number): MendedMessage[] => {
  const what = [
    ...(dropped > 0 ? [count(dropped, "earlier message")] : []),
    ...(cut > 0 ? [`the output of ${count(cut, "earlier tool call")}`] : []),
  ];
  if (what.length === 0) return [...messages];
  const text = `[Left out of this conversation, to fit the model's context: ${what.join(", and ")}.]`;
  const first = messages.findIndex(({ role }) => role === "user");
  return messages.map((message, index) =>
    index === first ? { ...message, content: [{ type: "text", text }, ...partsOf(message)] } : message,
  );
};

/**
 * The same conversation in at most about `maxLength` characters. What goes first: the outputs of older tool calls, then the oldest turns,
 * then the oldest steps of the last turn. The last step's outputs keep a half of the room, the last user message stays whole. Each cut
 * output says so, and a note before the first message says what is missing. Cuts grow by quarters of the room, so that the
 * beginning stays the same for a while and can be cached.
 */
export const fitMessages = (
  messages: readonly MendedMessage[],
  maxLength: number,
): readonly MendedMessage[] => {
  const lastStep = messages.findLastIndex(({ role }) => role === "assistant");
  const lastResults = messages
    .slice(lastStep + 1)
    .flatMap(partsOf)
    .filter(({ type }) => type === "tool-result");
  const share = Math.floor(maxLength / 2 / Math.max(lastResults.length, 1));
  const fitted = messages.map((message, index) =>
    message.role === "tool" && index > lastStep ? cutResults(message, share) : message,
  );
  const quarter = Math.max(maxLength / 4, 1);
  let excess = Math.ceil((lengthOfMessages(fitted) - maxLength) / quarter) * quarter;
  let cut = 0;
  for (let index = 0; index < lastStep && excess > 0; index++) {
    const message = fitted[index] as MendedMessage;
    if (message.role !== "tool") continue;
    const short = cutResults(message, 0);
    excess -= lengthOfMessage(message) - lengthOfMessage(short);
    cut += partsOf(message).filter((part, place) => partsOf(short)[place] !== part).length;
    fitted[index] = short;
  }
  const isDropped = new Set<number>();
  const drop = (from: number, to: number): void => {
    for (let index = from; index < to; index++) {
      isDropped.add(index);
      excess -= lengthOfMessage(fitted[index] as MendedMessage);
    }
  };
  const starts = (role: string, after: number) =>
    fitted.flatMap((message, index) => (index > after && message.role === role ? index : []));
  const turns = starts("user", -1);
  const steps = starts("assistant", turns.at(-1) ?? -1);
  for (const begins of [turns, steps]) {
    for (let next = 1; next < begins.length && excess > 0; next++) {
      drop(begins[next - 1] as number, begins[next] as number);
    }
  }
  const kept = fitted.filter((_, index) => !isDropped.has(index));
  return withNote(kept, isDropped.size, cut);
};
