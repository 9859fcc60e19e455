import type { InputPart } from "@harnesskit/protocol/threads";
import { displayText, InvalidArgumentError } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";

/** A message as `useChat` sends it. Nothing of it is trusted. */
export interface SentMessage {
  readonly id: string;
  readonly role: string;
  readonly parts: readonly unknown[];
  readonly metadata?: unknown;
}

/** A human's answer to an approval, with what the human was shown. */
export interface SentAnswer {
  readonly requestId: string;
  readonly approved: boolean;
  readonly reason: string | undefined;
  readonly tool: string;
  readonly input: unknown;
}

/** Parts of one message that are read; a message with more is refused. */
const maxParts = 10_000;

/**
 * The one of the messages that counts: the answer of the assistant that `messageId` names, where the user answered an approval in it,
 * else the last one. The thread has the others. Throws `invalid_argument`.
 */
export const sentMessage = (messages: readonly unknown[], messageId: string | undefined): SentMessage => {
  const isAnswered = (each: unknown) => isObject(each) && each.role === "assistant" && each.id === messageId;
  const message = messages.find(isAnswered) ?? messages.at(-1);
  if (!isObject(message)) throw new InvalidArgumentError("messages must end with a message");
  const { id, role, parts, metadata } = message;
  if (typeof id !== "string" || id === "" || id.length > 100)
    throw new InvalidArgumentError("the id of a message must be a string of 1 to 100 characters");
  if (typeof role !== "string" || !Array.isArray(parts) || parts.length > maxParts)
    throw new InvalidArgumentError(`a message must have a role and at most ${maxParts} parts`);
  return { id, role, parts, metadata };
};

/** Bytes of what the user says, as JSON: less than a page of the thread's history holds. */
const maxInputBytes = 3 * 1024 * 1024;

/**
 * What the user says: texts and files. Throws `invalid_argument` for a part of another type, which would be lost, and for more than
 * 3 MiB, which no page of the history could hold.
 */
export const toInputParts = ({ parts }: SentMessage): InputPart[] => {
  const input = parts.map((part): InputPart => {
    const { type, text, url, mediaType } = isObject(part) ? part : {};
    if (type === "text" && typeof text === "string") return { type, text };
    if (type === "file" && typeof url === "string" && url !== "")
      return { type, uri: url, mimeType: typeof mediaType === "string" ? mediaType : undefined };
    const shown = displayText(typeof type === "string" ? type : "a part without a type", { maxLength: 50 });
    throw new InvalidArgumentError(
      `a message of the user has parts of the types text and file, not ${shown}`,
    );
  });
  if (input.length === 0) throw new InvalidArgumentError("a message of the user must have a part");
  if (new TextEncoder().encode(JSON.stringify(input)).length > maxInputBytes)
    throw new InvalidArgumentError("a message of the user must have at most 3 MiB: link larger files");
  return input;
};

/** The answers in a message of the assistant that `addToolApprovalResponse` wrote. Throws `invalid_argument`. */
export const toAnswers = ({ parts }: SentMessage): SentAnswer[] =>
  parts.flatMap((part): SentAnswer[] => {
    if (!isObject(part) || part.state !== "approval-responded") return [];
    const { approval, input, type, toolName } = part;
    const { id, approved, reason } = isObject(approval) ? approval : {};
    const tool = type === "dynamic-tool" ? toolName : String(type).replace(/^tool-/, "");
    if (typeof id !== "string" || typeof approved !== "boolean" || typeof tool !== "string")
      throw new InvalidArgumentError("an answer to an approval must have an id, approved and its tool");
    return [
      { requestId: id, approved, reason: typeof reason === "string" ? reason : undefined, tool, input },
    ];
  });

/** The `seq` of the message's metadata: the last event that it holds. */
export const sentSeq = ({ metadata }: SentMessage): number | undefined => {
  const seq = isObject(metadata) ? metadata.seq : undefined;
  return Number.isSafeInteger(seq) && (seq as number) >= 0 ? (seq as number) : undefined;
};
