import type { InputPart } from "@harnesskit/protocol/threads";
import { displayText, InvalidArgumentError } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import type { SentMessage } from "@harnesskit/wire/ui-message";

/** Characters of the id of a message. */
export const maxIdLength = 100;

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

/** The `seq` of the message's metadata: the last event that it holds. */
export const sentSeq = ({ metadata }: SentMessage): number | undefined => {
  const seq = isObject(metadata) ? metadata.seq : undefined;
  return Number.isSafeInteger(seq) && (seq as number) >= 0 ? (seq as number) : undefined;
};
