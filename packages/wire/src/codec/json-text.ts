import { utf8Length } from "@harnesskit/protocol/base";
import type { Resolved } from "../define-options.ts";
import { FrameTooLargeError, InvalidArgumentError, InvalidMessageError } from "../errors.ts";
import { endOfString, isClosing, isOpening, isQuote } from "../json/json-scan.ts";
import { defaultWireLimits } from "../limits.ts";
import type { CodecOptions } from "./codec.ts";

export type MessageLimits = Resolved<CodecOptions>;

/** The limits of a codec, with their defaults. */
export const toMessageLimits = ({ maxFrameBytes, maxDepth }: CodecOptions): MessageLimits => ({
  maxFrameBytes: maxFrameBytes ?? defaultWireLimits.maxFrameBytes,
  maxDepth: maxDepth ?? defaultWireLimits.maxDepth,
});

/** Whether a JSON text has more of a bracket than `max`. */
const hasMoreThan = (text: string, bracket: string, max: number): boolean => {
  let found = 0;
  for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
    if (++found > max) return true;
  }
  return false;
};

/**
 * True when arrays and objects in JSON nest deeper than `maxDepth`. It scans the string, because building a value
 * that nests millions of levels deep takes seconds. Most messages are too short, or have too few brackets.
 */
const exceedsDepth = (text: string, maxDepth: number): boolean => {
  if (text.length < 2 * maxDepth) return false;
  const half = maxDepth >> 1;
  if (!hasMoreThan(text, "{", half) && !hasMoreThan(text, "[", half)) return false;
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (isQuote(unit)) index = endOfString(text, index);
    else if (isOpening(unit)) {
      if (++depth > maxDepth) return true;
    } else if (isClosing(unit)) depth--;
  }
  return false;
};

/** Parses one message. Returns the value, or an `invalid_message` error in its place. */
export const parseMessage = (text: string, maxDepth: number): unknown => {
  if (exceedsDepth(text, maxDepth)) {
    return new InvalidMessageError("too_deep", `a message nests deeper than ${maxDepth} levels`);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    return new InvalidMessageError("not_json", "a message is not JSON", { cause });
  }
};

/** The JSON of messages that were written before they are sent. */
const written = new WeakMap<object, string>();

/** Writes a message, which must not be changed from then on: it is sent as this JSON. */
export const writeMessage = (message: object): string => {
  const json = JSON.stringify(message);
  written.set(message, json);
  return json;
};

/** The JSON of a message that was written. */
export const writtenJson = (message: unknown): string | undefined =>
  typeof message === "object" && message !== null ? written.get(message) : undefined;

/** Writes one message as JSON. Throws `invalid_argument` for what has no JSON, and for what the other side would find too deep. */
const stringifyMessage = (message: unknown, maxDepth: number): string => {
  let text: string | undefined;
  try {
    text = writtenJson(message) ?? (JSON.stringify(message) as string | undefined);
  } catch (cause) {
    throw new InvalidArgumentError("the message has no JSON form", { cause });
  }
  if (text === undefined) throw new InvalidArgumentError("the message has no JSON form");
  if (exceedsDepth(text, maxDepth)) {
    throw new InvalidArgumentError(`the message nests deeper than ${maxDepth} levels`);
  }
  return text;
};

/**
 * Writes one message within the limits. Throws `invalid_argument` and `frame_too_large`. Bytes are counted only where the
 * length alone does not tell.
 */
export const encodeMessage = (message: unknown, { maxFrameBytes, maxDepth }: MessageLimits): string => {
  const text = stringifyMessage(message, maxDepth);
  if (text.length * 3 <= maxFrameBytes) return text;
  if (text.length > maxFrameBytes || utf8Length(text) > maxFrameBytes) {
    throw new FrameTooLargeError(maxFrameBytes);
  }
  return text;
};
