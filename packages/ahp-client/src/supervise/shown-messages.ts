import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { displayText } from "@harnesskit/wire";
import { utf8Length } from "@harnesskit/wire/json";
import { clip } from "./clip.ts";
import { SupervisionError } from "./supervision-error.ts";

export interface PromptLimits {
  readonly maxEventTextBytes: number;
  readonly oversizePrompt: "truncate" | "refuse";
}

/** What the harness is shown of a prompt. */
export interface ShownMessages {
  readonly payload: JsonObject;
  /** Whether the payload has all of the messages. */
  readonly isWhole: boolean;
}

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

/**
 * A part of the messages that is small enough: their texts cut, and of many messages the newest. Texts are cut further where the
 * newest message would be left out for the number of its texts.
 */
const shorten = (messages: readonly JsonValue[], maxBytes: number): JsonValue[] => {
  for (let textBytes = Math.floor(maxBytes / 8); ; textBytes = Math.floor(textBytes / 8)) {
    const short = messages.map((message) => cutTexts(message, textBytes));
    const kept = dropOldest(short, maxBytes);
    if (textBytes === 0 || kept.at(-1) === short.at(-1)) return kept;
  }
};

/**
 * What the harness is shown of messages, which are given as JSON: all of them, or a part that is marked as one. Throws `unjudgeable` where
 * it may see only all of it, and that is too much.
 */
export const showMessages = (
  text: string,
  subject: JsonObject,
  { maxEventTextBytes: maxBytes, oversizePrompt }: PromptLimits,
): ShownMessages => {
  const messages = JSON.parse(text) as JsonValue[];
  const bytes = utf8Length(text);
  if (bytes <= maxBytes) return { isWhole: true, payload: { ...subject, prompt: messages } };
  if (oversizePrompt === "refuse") {
    const reason = `the prompt has ${bytes} bytes, more than the ${maxBytes} that an event may hold`;
    throw new SupervisionError("unjudgeable", reason, { eventType: "pre_prompt" });
  }
  const shown = shorten(messages, maxBytes);
  const cut = { truncated: true, prompt_bytes: bytes, omitted_messages: messages.length - shown.length };
  return { isWhole: false, payload: { ...subject, prompt: shown, ...cut } };
};

/** What would be sent, for a person: how much, to whom, and the beginning of the last message. */
export const toPromptMessage = (
  text: string,
  model: { readonly provider: string; readonly modelId: string },
): string => {
  const messages = JSON.parse(text) as JsonValue[];
  const last = JSON.stringify(messages.at(-1) ?? null);
  const name = displayText(`${model.provider}/${model.modelId}`, { maxLength: 200 });
  const size = `${messages.length} messages, ${utf8Length(text)} bytes`;
  return `Send a prompt (${size}) to the model ${name}? Its last message:\n${displayText(last, { maxLength: 4000 })}`;
};
