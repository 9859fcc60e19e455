import type { AssistantMessage, ChatMessage, ToolCall, ToolMessage } from "@harnesskit/protocol/chat";
import type { AssistantModelMessage, ModelMessage, ToolModelMessage, ToolResultPart } from "ai";
import { callsOf, isStep, type Piece, piecesToAnswer, type Step } from "./arrange-history.ts";
import { type AssistantPart, toAssistantPart, toOptions, toUserPart } from "./blocks.ts";
import { failureOfText, waitingText } from "./failure-text.ts";

const toAssistantMessage = (message: AssistantMessage): AssistantModelMessage => {
  const { content } = message;
  const calls = callsOf(message);
  if (typeof content === "string" && calls.length === 0) return { role: "assistant", content };
  const said: AssistantPart[] =
    typeof content === "string"
      ? content === ""
        ? []
        : [{ type: "text", text: content }]
      : (content ?? []).map(toAssistantPart);
  const asked = calls.map(
    ({ id, name, arguments: input, signature }): AssistantPart => ({
      type: "tool-call",
      toolCallId: id,
      toolName: name,
      input,
      ...toOptions(signature),
    }),
  );
  return { role: "assistant", content: [...said, ...asked] };
};

const toResultOutput = (content: string): ToolResultPart["output"] => {
  const failure = failureOfText(content);
  return failure === undefined
    ? { type: "text", value: content }
    : { type: "error-json", value: { ...failure } };
};

const toResultPart = ({ id, name }: ToolCall, result: ToolMessage | undefined): ToolResultPart => ({
  type: "tool-result",
  toolCallId: id,
  toolName: name,
  output: toResultOutput(result?.content ?? waitingText),
});

const toStepMessages = ({ message, results }: Step): ModelMessage[] => {
  const calls = callsOf(message);
  const said = toAssistantMessage(message);
  if (calls.length === 0) return [said];
  const answers: ToolModelMessage = {
    role: "tool",
    content: calls.map((call) => toResultPart(call, results.get(call.id))),
  };
  return [said, answers];
};

/** Pieces of a conversation as messages for the AI SDK. Every call has a result, if only that it waits for approval. */
export const toModelPrompt = (pieces: readonly Piece[]): ModelMessage[] =>
  pieces.flatMap((piece): ModelMessage[] => {
    if (isStep(piece)) return toStepMessages(piece);
    if (piece.role === "system") return [{ role: "system", content: piece.content }];
    const { content } = piece;
    return [{ role: "user", content: typeof content === "string" ? content : content.map(toUserPart) }];
  });

/**
 * A conversation as messages for the AI SDK, so that a model answers its last turn: text, images, thinking with its signatures,
 * hidden thinking, calls and results, without loss. Every call is followed by its result, or by one that says that it waits for
 * approval.
 *
 * Throws a {@link ChatModelError} `provider_invalid_request` for a result without a call and for an image that is not valid.
 */
export const toModelMessages = (messages: readonly ChatMessage[]): ModelMessage[] =>
  toModelPrompt(piecesToAnswer(messages));
