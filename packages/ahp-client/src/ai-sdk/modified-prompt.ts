import type { JsonValue } from "@harnesskit/protocol/envelope";
import { modelMessageSchema } from "ai";
import type { FilePart, Message, Prompt } from "./model-types.ts";
import { SupervisionError } from "./supervision-error.ts";

const misfit = (reason: string): SupervisionError =>
  new SupervisionError("invalid_modification", reason, { eventType: "pre_prompt" });

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Stands where a file is, while the rest of its message is checked. */
const placeholder = { type: "text", text: "" };

const fileOf = (part: Record<string, unknown>, files: readonly FilePart[]): FilePart => {
  const file = Number.isInteger(part.file_ref) ? files[part.file_ref as number] : undefined;
  if (!file) throw misfit("it holds a file that the prompt did not have");
  return file;
};

const partsOf: Readonly<Record<string, readonly string[]>> = {
  user: ["text"],
  assistant: ["text", "reasoning", "tool-call", "tool-result"],
  tool: ["tool-result", "tool-approval-response"],
};

const isLegacyOutput = (part: Record<string, unknown>): boolean =>
  isObject(part.output) &&
  Array.isArray(part.output.value) &&
  part.output.type === "content" &&
  part.output.value.some((entry) => isObject(entry) && entry.type === "media");

const assertPart = (role: string, part: Record<string, unknown>): void => {
  if (!partsOf[role]?.includes(String(part.type)))
    throw misfit(`a ${role} message has a part of another kind`);
  if (part.type === "tool-call" && part.input === undefined) throw misfit("a tool call has no input");
  if (isLegacyOutput(part)) throw misfit("the result of a tool is of another form");
};

const toMessage = (given: unknown, files: readonly FilePart[]): Message => {
  const restored = new Map<number, FilePart>();
  let checked = given;
  if (isObject(given) && Array.isArray(given.content)) {
    const content = given.content.map((part: unknown, index) => {
      if (!isObject(part) || part.type !== "file") return part;
      restored.set(index, fileOf(part, files));
      return placeholder;
    });
    checked = { ...given, content };
  }
  const parsed = modelMessageSchema.safeParse(checked);
  if (!parsed.success) throw misfit("one of its messages is none");
  const message = parsed.data;
  if (message.role === "system") return message as Message;
  const parts =
    typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
  for (const part of parts) assertPart(message.role, part as Record<string, unknown>);
  return { ...message, content: parts.map((part, index) => restored.get(index) ?? part) } as Message;
};

/**
 * The prompt in a payload that the harness modified. Its messages have the form of the AI SDK, where a text may stand for
 * a list of one text; a file is one of the prompt's own, by its `file_ref`. Throws `invalid_modification`.
 */
export const toModifiedPrompt = (modified: JsonValue, files: readonly FilePart[]): Prompt => {
  const prompt = isObject(modified) ? modified.prompt : undefined;
  if (!Array.isArray(prompt) || prompt.length === 0)
    throw misfit("it has no prompt, which is a list of messages");
  return prompt.map((message: unknown) => toMessage(message, files));
};
