import { isObject } from "../json/json.ts";

/** A message of the AI SDK: its `ModelMessage` and any other type of this form. */
export interface ReplayMessage {
  readonly role: string;
  readonly content: unknown;
}

/** A model of the AI SDK, or the name of one, such as `anthropic/claude-sonnet-4.5`. */
export type ReplayModel = string | { readonly provider: string; readonly modelId: string };

/** A part of a message as its author made it: a model, a tool or a user. */
export interface Part extends Readonly<Record<string, unknown>> {
  readonly type: string;
}

/** A message whose content is a list of parts; a string for the system alone. */
export interface MendedMessage extends ReplayMessage {
  readonly content: string | readonly Part[];
}

/** The parts of a message: a string is one text. */
export const partsOf = ({ content }: ReplayMessage): readonly Part[] => {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter((part): part is Part => isObject(part)) : [];
};

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
