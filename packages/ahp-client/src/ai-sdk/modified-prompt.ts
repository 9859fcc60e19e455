import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { type JsonDifference, jsonDifference } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { modelMessageSchema } from "ai";
import { describeLeftover, leftoverOf } from "../modification.ts";
import { invalidPrompt } from "../supervise/model-request.ts";
import type { FilePart, Message, Prompt } from "./model-types.ts";
import { showFile } from "./shown-prompt.ts";

/** Stands where a file is, while the rest of its message is checked. */
const placeholder = { type: "text", text: "" };

const refuseLeftover = (leftover: JsonDifference | undefined, where = ""): void => {
  if (!leftover) return;
  const path = where === "" ? leftover.path : `${where}.${leftover.path}`;
  throw invalidPrompt(describeLeftover({ ...leftover, path }, "prompt"));
};

/** The file that a part refers to. What else the part says must be what the file is. */
const fileOf = (part: Record<string, unknown>, files: readonly FilePart[], where: string): FilePart => {
  const ref = Number.isInteger(part.file_ref) ? (part.file_ref as number) : -1;
  const file = files[ref];
  if (!file) throw invalidPrompt(`${where} is a file that the prompt did not have`);
  refuseLeftover(leftoverOf(part as JsonObject, showFile(file, ref)), where);
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
    throw invalidPrompt(`a ${role} message has a part of another kind`);
  if (part.type === "tool-call" && part.input === undefined) throw invalidPrompt("a tool call has no input");
  if (isLegacyOutput(part)) throw invalidPrompt("the result of a tool is of another form");
};

/** A message as it must be after its validation: a string stands for a list of one text part. */
const withParts = (message: Record<string, unknown>): unknown =>
  typeof message.content === "string" && message.role !== "system"
    ? { ...message, content: [{ type: "text", text: message.content }] }
    : message;

const toPromptMessage = (given: unknown, files: readonly FilePart[], where: string): Message => {
  if (!isObject(given)) throw invalidPrompt(`${where} is not a message`);
  const restored = new Map<number, FilePart>();
  let wanted = given;
  if (Array.isArray(given.content)) {
    const content = given.content.map((part: unknown, index) => {
      if (!isObject(part) || part.type !== "file") return part;
      restored.set(index, fileOf(part, files, `${where}.content.${index}`));
      return placeholder;
    });
    wanted = { ...given, content };
  }
  const parsed = modelMessageSchema.safeParse(wanted);
  if (!parsed.success) throw invalidPrompt(`${where} is not a message`);
  const message = withParts(parsed.data as never) as Message;
  refuseLeftover(jsonDifference(withParts(wanted), message, where));
  if (typeof message.content === "string") return message;
  for (const part of message.content) assertPart(message.role, part as unknown as Record<string, unknown>);
  return {
    ...message,
    content: message.content.map((part, index) => restored.get(index) ?? part),
  } as Message;
};

/**
 * The prompt that the harness wants. Its messages have the form of the AI SDK, where a string may stand for a list of one text part; a file is
 * one of the prompt's own, by its `file_ref`. Throws `invalid_modification`, which names what cannot be applied exactly.
 */
export const toModifiedPrompt = (wanted: readonly JsonValue[], files: readonly FilePart[]): Prompt =>
  wanted.map((message, index) => toPromptMessage(message, files, `prompt.${index}`));
