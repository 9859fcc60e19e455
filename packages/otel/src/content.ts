import { isObject } from "@harnesskit/wire/json";

const mark = "… [cut]";

const cut = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : text.slice(0, Math.max(0, maxLength - mark.length)) + mark;

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
const toGenAiMessages = (value: unknown, role: "user" | "assistant"): unknown => {
  const list = Array.isArray(value) ? value : [value];
  const isMessages = list.some((entry) => isObject(entry) && typeof entry.role === "string");
  if (!isMessages) return [{ role, parts: toParts(list) }];
  return list.filter(isObject).map((message) => ({ role: message.role, parts: toParts(message.content) }));
};

const messageRoles: Readonly<Record<string, "user" | "assistant">> = {
  "gen_ai.input.messages": "user",
  "gen_ai.output.messages": "assistant",
};

/** Content as the string of an attribute, at most `maxLength` characters; undefined if it is not JSON. */
export const contentText = (attribute: string, value: unknown, maxLength: number): string | undefined => {
  const role = messageRoles[attribute];
  try {
    const shown = role === undefined ? value : toGenAiMessages(value, role);
    const text = typeof shown === "string" ? shown : JSON.stringify(shown);
    return text === undefined ? undefined : cut(text, maxLength);
  } catch {
    return undefined;
  }
};
