import type { UserBlock, UserMessage } from "@harnesskit/protocol/chat";
import { displayText, InvalidArgumentError } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";

/** A message as `useChat` sends it. Nothing of it is trusted. */
export interface SentMessage {
  readonly id: string;
  readonly role: string;
  readonly parts: readonly unknown[];
}

/** What a human gave for a pause: the answer to an approval, or the output of a question. */
export type SentAnswer =
  | {
      readonly kind: "approval";
      readonly signalId: string;
      readonly approved: boolean;
      readonly reason: string | undefined;
      /** What the human was shown. */
      readonly tool: unknown;
      readonly input: unknown;
    }
  | { readonly kind: "question"; readonly signalId: string; readonly output: unknown };

/**
 * The one of the messages that counts: the answer of the assistant that `messageId` names, where the user answered a pause in it,
 * else the last one. The session has the others. Throws `invalid_argument`.
 */
export const sentMessage = (messages: readonly unknown[], messageId: string | undefined): SentMessage => {
  const isAnswered = (each: unknown) => isObject(each) && each.role === "assistant" && each.id === messageId;
  const message = messages.find(isAnswered) ?? messages.at(-1);
  const { id, role, parts } = isObject(message) ? message : {};
  if (
    typeof id !== "string" ||
    id === "" ||
    id.length > 200 ||
    typeof role !== "string" ||
    !Array.isArray(parts)
  )
    throw new InvalidArgumentError("messages must end with a message that has an id, a role and parts");
  return { id, role, parts };
};

const toBlock = (part: unknown): UserBlock => {
  const { type, text, url, mediaType } = isObject(part) ? part : {};
  if (type === "text" && typeof text === "string" && text !== "") return { type, text };
  if (
    type === "file" &&
    typeof url === "string" &&
    typeof mediaType === "string" &&
    mediaType.startsWith("image/")
  ) {
    const [, base64_data] = /^data:[^,]*;base64,(.+)$/su.exec(url) ?? [];
    if (base64_data !== undefined)
      return { type: "image", source: { type: "inline", base64_data }, media_type: mediaType };
    if (/^https?:/u.test(url)) return { type: "image", source: { type: "url", url }, media_type: mediaType };
  }
  const shown = displayText(typeof type === "string" ? type : "a part without a type", { maxLength: 50 });
  throw new InvalidArgumentError(`a message of the user has texts and images as parts, not ${shown}`);
};

/** What the user says. Throws `invalid_argument` for a part that would be lost. */
export const toUserMessage = ({ parts }: SentMessage): UserMessage => {
  const blocks = parts.map(toBlock);
  const [first, ...others] = blocks;
  if (first === undefined) throw new InvalidArgumentError("a message of the user must have a part");
  return { role: "user", content: first.type === "text" && others.length === 0 ? first.text : blocks };
};

/** The answers in a message of the assistant that `addToolApprovalResponse` or `addToolOutput` wrote. */
export const toAnswers = ({ parts }: SentMessage, questionTool: string): SentAnswer[] =>
  parts.flatMap((part): SentAnswer[] => {
    if (!isObject(part) || part.type !== "dynamic-tool") return [];
    const { state, approval, toolName: tool, toolCallId, input, output } = part;
    const { id, approved, reason } = isObject(approval) ? approval : {};
    if (state === "approval-responded" && typeof id === "string" && typeof approved === "boolean") {
      const why = typeof reason === "string" ? reason : undefined;
      return [{ kind: "approval", signalId: id, approved, reason: why, tool, input }];
    }
    if (tool !== questionTool || state !== "output-available" || typeof toolCallId !== "string") return [];
    return [{ kind: "question", signalId: toolCallId, output }];
  });
