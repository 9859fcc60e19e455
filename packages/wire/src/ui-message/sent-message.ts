import { InvalidArgumentError } from "../errors.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { isObject } from "../json/json.ts";

/** A message as `useChat` sends it. Nothing of it is trusted. */
export interface SentMessage {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly parts: readonly unknown[];
  readonly metadata?: unknown;
}

/** Parts of one message that are read; a message with more is refused. */
const maxParts = 10_000;

/**
 * The one of the messages that counts: the answer of the assistant that `messageId` names, where the user answered a question in it,
 * else the last one. The server has the others. Throws `invalid_argument`, also for a message that is to be changed or generated again.
 */
export const sentMessage = (
  {
    messages,
    messageId,
    trigger,
  }: {
    readonly messages: readonly unknown[];
    readonly messageId: string | undefined;
    readonly trigger: string;
  },
  maxIdLength = 200,
): SentMessage => {
  const isAnswered = (each: unknown) => isObject(each) && each.role === "assistant" && each.id === messageId;
  const message = messages.find(isAnswered) ?? messages.at(-1);
  const { id, role, parts, metadata } = isObject(message) ? message : {};
  if (typeof id !== "string" || id === "" || id.length > maxIdLength) {
    throw new InvalidArgumentError(
      `messages must end with a message that has an id of 1 to ${maxIdLength} characters`,
    );
  }
  if (role !== "user" && role !== "assistant")
    throw new InvalidArgumentError("the last message must be of the user or the assistant");
  if (!Array.isArray(parts) || parts.length > maxParts)
    throw new InvalidArgumentError(`a message must have a list of at most ${maxParts} parts`);
  if (trigger === "regenerate-message" || (role === "user" && messageId !== undefined)) {
    throw new InvalidArgumentError(
      "what was said is kept: send a new message, do not change or regenerate one",
    );
  }
  return { id, role, parts, metadata };
};

/** A human's answer to an approval, with what the human was shown. */
export interface SentAnswer {
  readonly approvalId: string;
  readonly approved: boolean;
  readonly reason: string | undefined;
  readonly tool: string;
  readonly input: unknown;
}

/** The answers in a message of the assistant that `addToolApprovalResponse` wrote. Throws `invalid_argument`. */
export const sentAnswers = ({ parts }: SentMessage): SentAnswer[] =>
  parts.flatMap((part): SentAnswer[] => {
    if (!isObject(part) || part.state !== "approval-responded") return [];
    const { approval, input, type, toolName } = part;
    const { id, approved, reason } = isObject(approval) ? approval : {};
    const tool = type === "dynamic-tool" ? toolName : String(type).replace(/^tool-/, "");
    if (typeof id !== "string" || typeof approved !== "boolean" || typeof tool !== "string")
      throw new InvalidArgumentError("an answer to an approval must have an id, approved and its tool");
    const why = typeof reason === "string" ? reason : undefined;
    return [{ approvalId: id, approved, reason: why, tool, input }];
  });

/** Whether a human who answered was shown exactly the call that waits. */
export const isCallShown = (
  { tool, input }: Pick<SentAnswer, "tool" | "input">,
  asked: { readonly tool: string; readonly input: unknown },
): boolean =>
  isObject(input) &&
  canonicalJson({ tool, input }) === canonicalJson({ tool: asked.tool, input: asked.input });
