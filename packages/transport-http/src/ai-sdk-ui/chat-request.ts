import { isObject } from "@harnesskit/wire/json";
import type { ChatAction, ChatSend } from "./chat-source.ts";

/** Characters of the id of a chat. */
const maxIdLength = 200;

const isId = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= maxIdLength;

/** What a path below the handler's own asks for; undefined where nothing is there. */
export const readPath = (
  rest: string,
): { readonly action: ChatAction; readonly method: string; readonly chatId?: string } | undefined => {
  if (rest === "") return { action: "send", method: "POST" };
  const [, id = "", last = ""] = /^\/([^/]+)\/(stream|messages|cancel)$/.exec(rest) ?? [];
  const chatId = decoded(id);
  if (!isId(chatId)) return undefined;
  if (last === "cancel") return { action: "cancel", method: "POST", chatId };
  return { action: last === "stream" ? "resume" : "read", method: "GET", chatId };
};

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/** The body of a POST, or the sentence that says what is wrong with it. */
export const readSend = (message: unknown): ChatSend | string => {
  if (!isObject(message)) return "The body must be an object.";
  const { id: chatId, messages, trigger = "submit-message", messageId, ...body } = message;
  if (!isId(chatId)) return `id must be a string of 1 to ${maxIdLength} characters.`;
  if (!Array.isArray(messages) || messages.length === 0) return "messages must be a list with a message.";
  if (trigger !== "submit-message" && trigger !== "regenerate-message")
    return "trigger must be submit-message or regenerate-message.";
  if (messageId !== undefined && messageId !== null && !isId(messageId))
    return `messageId must be a string of 1 to ${maxIdLength} characters.`;
  return { chatId, trigger, messages, messageId: messageId ?? undefined, abortSignal: undefined, body };
};
