import type { UserBlock, UserMessage } from "@harnesskit/protocol/chat";
import { displayText, InvalidArgumentError } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import type { SentMessage } from "@harnesskit/wire/ui-message";
import { questionTool } from "./message-types.ts";

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

/** The outputs that `addToolOutput` gave for questions, by the signals that they wait for. */
export const sentOutputs = ({ parts }: SentMessage): (readonly [signalId: string, output: unknown])[] =>
  parts.flatMap((part) => {
    const { type, toolName, state, toolCallId, output } = isObject(part) ? part : {};
    const isOutput = type === "dynamic-tool" && toolName === questionTool && state === "output-available";
    return isOutput && typeof toolCallId === "string" ? [[toolCallId, output] as const] : [];
  });
