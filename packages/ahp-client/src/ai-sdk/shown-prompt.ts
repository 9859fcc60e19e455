import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { displayText } from "@harnesskit/wire";
import { utf8Length } from "@harnesskit/wire/json";
import { clip } from "./clip.ts";
import type { CallOptions, FilePart, Message, Prompt } from "./model-types.ts";
import { SupervisionError } from "./supervision-error.ts";

/** A prompt, and what the harness is shown of it. */
export interface ShownPrompt {
  readonly prompt: Prompt;
  /** The messages as JSON, with a reference in place of each file. */
  readonly text: string;
  /** The files, in the order of their references. */
  readonly files: readonly FilePart[];
  readonly payload: JsonObject;
  /** Whether the payload has all of the messages. */
  readonly isWhole: boolean;
}

export interface PromptLimits {
  readonly maxEventTextBytes: number;
  readonly oversizePrompt: "truncate" | "refuse";
}

/** What the event says beside the messages. */
export const toPromptSubject = (
  model: { provider: string; modelId: string },
  tools: CallOptions["tools"],
): JsonObject => ({
  model: { provider: model.provider, id: model.modelId },
  ...(tools && tools.length > 0 && { tools: tools.map(({ name }) => name) }),
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

const cutTexts = (value: JsonValue, maxBytes: number): JsonValue => {
  if (typeof value === "string") return clip(value, maxBytes);
  if (Array.isArray(value)) return value.map((entry) => cutTexts(entry, maxBytes));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, cutTexts(entry, maxBytes)]));
};

const isSystem = (message: JsonValue | undefined): boolean =>
  typeof message === "object" && message !== null && "role" in message && message.role === "system";

/** Leaves out the oldest messages until the rest is small enough: system messages last. */
const dropOldest = (messages: readonly JsonValue[], maxBytes: number): JsonValue[] => {
  const sizes = messages.map((message) => utf8Length(JSON.stringify(message)) + 1);
  let bytes = sizes.reduce((sum, size) => sum + size, 2);
  const dropped = new Set<number>();
  for (const systemToo of [false, true]) {
    for (const [index, message] of messages.entries()) {
      if (bytes <= maxBytes) break;
      if (dropped.has(index) || (isSystem(message) && !systemToo)) continue;
      dropped.add(index);
      bytes -= sizes[index] ?? 0;
    }
  }
  return messages.filter((_, index) => !dropped.has(index));
};

const minTextBytes = 256;

/** A part of the messages that is small enough: all of them with their texts cut, or the newest of these. */
const shorten = (messages: readonly JsonValue[], maxBytes: number): JsonValue[] => {
  let textBytes = Math.max(minTextBytes, Math.floor(maxBytes / 4));
  for (;;) {
    const short = messages.map((message) => cutTexts(message, textBytes));
    if (utf8Length(JSON.stringify(short)) <= maxBytes) return short;
    if (textBytes === minTextBytes) return dropOldest(short, maxBytes);
    textBytes = Math.max(minTextBytes, Math.floor(textBytes / 4));
  }
};

const stringifyMessages = (messages: unknown): string => {
  try {
    return JSON.stringify(messages);
  } catch (cause) {
    throw new SupervisionError("unjudgeable", "the prompt is not JSON", { eventType: "pre_prompt", cause });
  }
};

/** The prompt as the harness sees it. Throws `unjudgeable` where it may see only all of it, and that is too much. */
export const showPrompt = (prompt: Prompt, subject: JsonObject, limits: PromptLimits): ShownPrompt => {
  const { maxEventTextBytes: maxBytes, oversizePrompt } = limits;
  const files: FilePart[] = [];
  const text = stringifyMessages(toShownMessages(prompt, files));
  const messages = JSON.parse(text) as JsonValue[];
  const bytes = utf8Length(text);
  if (bytes <= maxBytes) {
    return { prompt, text, files, isWhole: true, payload: { ...subject, prompt: messages } };
  }
  if (oversizePrompt === "refuse") {
    const reason = `the prompt has ${bytes} bytes, more than the ${maxBytes} that an event may hold`;
    throw new SupervisionError("unjudgeable", reason, { eventType: "pre_prompt" });
  }
  const shown = shorten(messages, maxBytes);
  const cut = { truncated: true, prompt_bytes: bytes, omitted_messages: messages.length - shown.length };
  return { prompt, text, files, isWhole: false, payload: { ...subject, prompt: shown, ...cut } };
};

/** What would be sent, for a person: how much, to whom, and the beginning of the last message. */
export const toPromptMessage = (
  { prompt, text }: ShownPrompt,
  model: { provider: string; modelId: string },
): string => {
  const last = JSON.stringify((JSON.parse(text) as JsonValue[]).at(-1) ?? null);
  const name = displayText(`${model.provider}/${model.modelId}`, { maxLength: 200 });
  const size = `${prompt.length} messages, ${utf8Length(text)} bytes`;
  return `Send a prompt (${size}) to the model ${name}? Its last message:\n${displayText(last, { maxLength: 4000 })}`;
};
