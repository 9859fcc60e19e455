import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { jsonDifference } from "@harnesskit/wire";
import { copyJson, isObject } from "@harnesskit/wire/json";
import { invalidPrompt } from "../supervise/model-request.ts";

/** What is used of a message of LangChain. */
export interface LangChainMessage {
  readonly content: unknown;
  getType(): string;
}

const fields = ["name", "tool_call_id", "tool_calls"] as const;

const isAbsent = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

/** A message as the harness sees it: its type, its content, and what it says of tools. */
export const showMessage = (message: LangChainMessage): JsonObject => {
  const given = message as unknown as Record<string, unknown>;
  const shown: Record<string, unknown> = { type: message.getType(), content: message.content };
  for (const field of fields) if (!isAbsent(given[field])) shown[field] = given[field];
  return copyJson(shown, { name: "message" }) as JsonObject;
};

const withContent = (message: LangChainMessage, content: JsonValue): LangChainMessage => {
  const kwargs = { ...(message as { lc_kwargs?: object }).lc_kwargs, content };
  return Object.assign(Object.create(Object.getPrototypeOf(message)), message, {
    content,
    lc_kwargs: kwargs,
  });
};

/**
 * The messages that the harness wants: those of the prompt, in their order, some left out and some with another content. Throws
 * `invalid_modification` for any other change.
 */
export const wantedMessages = (
  given: readonly LangChainMessage[],
  wanted: readonly JsonValue[],
): LangChainMessage[] => {
  const shown = given.map(showMessage);
  let next = 0;
  return wanted.map((message, place) => {
    if (!isObject(message)) throw invalidPrompt(`prompt.${place} is not a message`);
    for (; next < given.length; next++) {
      const [original, seen] = [given[next] as LangChainMessage, shown[next] as JsonObject];
      const content = message.content as JsonValue | undefined;
      if (content === undefined || jsonDifference(message as JsonValue, { ...seen, content })) continue;
      next++;
      return jsonDifference(content, seen.content) ? withContent(original, content) : original;
    }
    throw invalidPrompt(`prompt.${place} is not a message of this prompt: only its content can be changed`);
  });
};
