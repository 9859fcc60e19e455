import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { isObject } from "@harnesskit/wire/json";

/** The text of a message: a string, or the texts of its parts. */
const textOf = (content: JsonValue | undefined): string => {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const texts = content.map((part) => (isObject(part) && typeof part.text === "string" ? part.text : ""));
  return texts.filter((text) => text !== "").join("\n");
};

/** The user's last message that has text; the earlier ones were sent before. */
const promptText = (prompt: JsonValue | undefined): string => {
  if (!Array.isArray(prompt)) return textOf(prompt);
  const messages = prompt.flatMap((each) => (isObject(each) ? [each as JsonObject] : []));
  const asked = messages.findLast(({ role, content }) => role === "user" && textOf(content) !== "");
  return textOf((asked ?? messages.at(-1))?.content);
};

/**
 * What was said, in an event's payload: the prompt or the answer as text; undefined where the payload has neither. The string comes from
 * the agent.
 */
export const saidText = ({ prompt, text, message, result }: JsonObject): string | undefined =>
  [promptText(prompt), textOf(text), textOf(message), textOf(result)].find((said) => said.trim() !== "");
