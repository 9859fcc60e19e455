import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { defined, utf8Length } from "@harnesskit/wire/json";
import { SupervisionError } from "../supervise/supervision-error.ts";
import type { FilePart, Message, Prompt } from "./model-types.ts";

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
  return defined({ type: "file", file_ref: fileRef, mediaType, ...describeData(part.data), filename });
};

/** The messages as the harness sees them: each file is added to `files`, and its reference is in its place. Throws `unjudgeable`. */
export const showPrompt = (prompt: Prompt, files: FilePart[]): readonly JsonValue[] => {
  const shown = prompt.map((message: Message) => {
    if (typeof message.content === "string") return message;
    const content = message.content.map((part) =>
      part.type === "file" ? showFile(part, files.push(part) - 1) : part,
    );
    return { ...message, content };
  });
  try {
    return JSON.parse(JSON.stringify(shown)) as readonly JsonValue[];
  } catch (cause) {
    throw new SupervisionError("unjudgeable", "the prompt is not JSON", { eventType: "pre_prompt", cause });
  }
};
