import { isObject } from "../json/json.ts";
import { type Part, partsOf, type ReplayMessage } from "./replayed-message.ts";

/** Characters that a file counts as, whatever its size: providers count pages and pixels. */
const fileLength = 6000;
/** Characters that a part counts as beside its content. */
const partLength = 40;

export const jsonText = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");

export const lengthOfOutput = (output: unknown): number => {
  const { type, value, reason } = isObject(output) ? output : {};
  if (type !== "content") return jsonText(value ?? reason).length;
  return lengthOfMessage({ role: "tool", content: value });
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

export const lengthOfMessage = (message: ReplayMessage): number =>
  partsOf(message).reduce((sum, part) => sum + lengthOfPart(part), 0);

/** The characters that a model reads of a conversation, about. */
export const lengthOfMessages = (messages: readonly ReplayMessage[]): number =>
  messages.reduce((sum, message) => sum + lengthOfMessage(message), 0);
