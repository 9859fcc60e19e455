import type { AssistantMessage } from "@harnesskit/protocol/chat";
import { type MediaPlace, type ModelOutput, outputInText, toModelOutput } from "@harnesskit/wire/model";
import type { AssistantModelMessage, FilePart, ModelMessage, ToolResultPart } from "ai";
import { callsOf, isStep, type Piece, type Step } from "./arrange-history.ts";
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

const toResultOutput = (content: string, output: ModelOutput | undefined): ToolResultPart["output"] => {
  const failure = failureOfText(content);
  if (failure !== undefined) return { type: "error-json", value: { ...failure } };
  return output?.result ?? { type: "text", value: content };
};

const toStepMessages = ({ message, results }: Step, place: MediaPlace | undefined): ModelMessage[] => {
  const calls = callsOf(message);
  const said = toAssistantMessage(message);
  if (calls.length === 0) return [said];
  const media: FilePart[] = [];
  const answers = calls.map(({ id, name }): ToolResultPart => {
    const content = results.get(id)?.content ?? waitingText;
    const output = toModelOutput(outputInText(content), place);
    media.push(...(output?.message ?? []));
    return { type: "tool-result", toolCallId: id, toolName: name, output: toResultOutput(content, output) };
  });
  const shown: ModelMessage[] = media.length === 0 ? [] : [{ role: "user", content: media }];
  return [said, { role: "tool", content: answers }, ...shown];
};

/**
 * The messages for the AI SDK of each piece of a conversation. Every call has a result, if only that it waits for approval. `mediaPlace` is
 * where the provider takes the images and files of the last turn's tools; those of earlier turns, and all without it, are notes.
 */
export const toPromptPieces = (pieces: readonly Piece[], mediaPlace?: MediaPlace): ModelMessage[][] => {
  const lastTurn = pieces.findLastIndex((piece) => !isStep(piece) && piece.role === "user");
  return pieces.map((piece, index): ModelMessage[] => {
    if (isStep(piece)) return toStepMessages(piece, index > lastTurn ? mediaPlace : undefined);
    if (piece.role === "system") return [{ role: "system", content: piece.content }];
    const { content } = piece;
    return [{ role: "user", content: typeof content === "string" ? content : content.map(toUserPart) }];
  });
};
