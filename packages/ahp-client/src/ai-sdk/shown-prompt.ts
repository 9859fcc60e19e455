import type { JsonObject } from "@harnesskit/protocol/envelope";
import { defined, utf8Length } from "@harnesskit/wire/json";
import { type PromptLimits, type ShownMessages, showMessages } from "../supervise/shown-messages.ts";
import { SupervisionError } from "../supervise/supervision-error.ts";
import type { CallOptions, FilePart, Message, Prompt } from "./model-types.ts";

/** A prompt, and what the harness is shown of it. */
export interface ShownPrompt extends ShownMessages {
  readonly prompt: Prompt;
  /** The messages as JSON, with a reference in place of each file. */
  readonly text: string;
  /** The files, in the order of their references. */
  readonly files: readonly FilePart[];
}

/** What the event says beside the messages. */
export const toPromptSubject = (
  model: { provider: string; modelId: string },
  tools: CallOptions["tools"],
): JsonObject =>
  defined({
    model: { provider: model.provider, id: model.modelId },
    tools: tools && tools.length > 0 ? tools.map(({ name }) => name) : undefined,
  });

/** What is said of a file's data: bare in the AI SDK 6, under a `type` in 7. */
const describeData = (data: unknown): JsonObject => {
  if (data instanceof URL) return { url: data.href };
  if (typeof data === "string") return { size_bytes: Math.floor((data.length * 3) / 4) };
  if (data instanceof Uint8Array) return { size_bytes: data.byteLength };
  const tagged = data as { type?: unknown; data?: unknown; url?: unknown; text?: unknown };
  if (tagged.type === "data") return describeData(tagged.data);
  if (tagged.type === "url") return describeData(tagged.url);
  if (tagged.type === "text") return { size_bytes: utf8Length(String(tagged.text)) };
  return {};
};

/** What stands for a file: its reference, and all of it but its bytes and its provider's options. */
export const showFile = (part: FilePart, fileRef: number): JsonObject => {
  const { mediaType, filename } = part;
  const shown = { type: "file", file_ref: fileRef, mediaType, ...describeData(part.data) };
  return filename === undefined ? shown : { ...shown, filename };
};

/** The messages without the bytes of their files. */
const toShownMessages = (prompt: Prompt, files: FilePart[]): unknown[] =>
  prompt.map((message: Message) => {
    if (typeof message.content === "string") return message;
    const content = message.content.map((part) => {
      if (part.type !== "file") return part;
      files.push(part);
      return showFile(part, files.length - 1);
    });
    return { ...message, content };
  });

const stringifyMessages = (messages: unknown): string => {
  try {
    return JSON.stringify(messages);
  } catch (cause) {
    throw new SupervisionError("unjudgeable", "the prompt is not JSON", { eventType: "pre_prompt", cause });
  }
};

/** The prompt as the harness sees it. Throws `unjudgeable` where it may see only all of it, and that is too much. */
export const showPrompt = (prompt: Prompt, subject: JsonObject, limits: PromptLimits): ShownPrompt => {
  const files: FilePart[] = [];
  const text = stringifyMessages(toShownMessages(prompt, files));
  return { prompt, text, files, ...showMessages(text, subject, limits) };
};
