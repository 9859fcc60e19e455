import { isObject } from "@harnesskit/wire/json";

/** Characters of an attribute that is a name or an id; peers choose some of them. */
const maxNameLength = 256;

const mark = "… [cut]";

const cut = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : text.slice(0, Math.max(0, maxLength - mark.length)) + mark;

/** A name or an id, bounded. */
export const boundedName = (value: string): string => cut(value, maxNameLength);

/** Content as a string, bounded; undefined for what is not JSON. */
export const boundedContent = (value: unknown, maxLength: number): string | undefined => {
  try {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return text === undefined ? undefined : cut(text, maxLength);
  } catch {
    return undefined;
  }
};

const messagePart = (part: unknown): unknown => {
  if (!isObject(part)) return { type: "text", content: String(part) };
  const { type, text, toolCallId: id, toolName: name, input, output } = part;
  switch (type) {
    case "text":
    case "reasoning":
      return { type, content: text };
    case "tool-call":
      return { type: "tool_call", id, name, arguments: input };
    case "tool-result":
      return { type: "tool_call_response", id, response: output };
    default:
      return { type };
  }
};

const toParts = (content: unknown): unknown[] =>
  (Array.isArray(content) ? content : [content]).map(messagePart);

/**
 * Messages, or the parts of one, as `gen_ai.input.messages` and `gen_ai.output.messages` have them: each a role with parts. Files are
 * named by their type alone.
 */
export const toGenAiMessages = (value: unknown, role: "user" | "assistant"): unknown => {
  const list = Array.isArray(value) ? value : [value];
  const isMessages = list.some((entry) => isObject(entry) && typeof entry.role === "string");
  if (!isMessages) return [{ role, parts: toParts(list) }];
  return list.filter(isObject).map((message) => ({ role: message.role, parts: toParts(message.content) }));
};
