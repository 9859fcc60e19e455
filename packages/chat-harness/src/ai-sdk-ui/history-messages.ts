import type { ChatMessage, SignalDescriptor, UserBlock } from "@harnesskit/protocol/chat";
import type { HarnessUIMessage, HarnessUIPart } from "./message-types.ts";
import { TurnChunks } from "./turn-chunks.ts";

const toPart = (block: UserBlock): HarnessUIPart => {
  if (block.type === "text") return { type: "text", text: block.text };
  const { source, media_type: mediaType = "image/*" } = block;
  const url = source.type === "url" ? source.url : `data:${mediaType};base64,${source.base64_data}`;
  return { type: "file", mediaType, url };
};

/** What the user says, as parts. */
export const userParts = (content: string | readonly UserBlock[]): HarnessUIPart[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content.map(toPart);

/** The history of a session as messages: what follows a message of the user is one message of the assistant, the last one with what it waits for. */
export const toUiMessages = (
  history: readonly ChatMessage[],
  pauses: readonly SignalDescriptor[] = [],
): HarnessUIMessage[] => {
  const messages: HarnessUIMessage[] = [];
  let from = 0;
  const answer = (to: number, waits: readonly SignalDescriptor[]) => {
    const id = `answer-${to}`;
    const { parts } = new TurnChunks(id).say(history.slice(from, to), waits);
    const message: HarnessUIMessage = { id, role: "assistant", parts };
    if (waits.length > 0) message.metadata = { status: "suspended" };
    if (parts.length > 0) messages.push(message);
  };
  for (const [index, message] of history.entries()) {
    if (message.role !== "user") continue;
    answer(index, []);
    from = index + 1;
    messages.push({ id: `message-${index}`, role: "user", parts: userParts(message.content) });
  }
  answer(history.length, pauses);
  return messages;
};
