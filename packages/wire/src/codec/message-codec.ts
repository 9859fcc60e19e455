import { FrameTooLargeError, InvalidMessageError } from "../errors.ts";
import type { CodecOptions } from "./codec.ts";
import { encodeMessage, parseMessage, toMessageLimits } from "./json-text.ts";

/** Codes single JSON messages whose ends the transport marks: a body, or a frame of a WebSocket. */
export interface MessageCodec {
  /** Throws `frame_too_large` and `invalid_argument`. */
  encode(message: unknown): string;
  /** Throws `frame_too_large` and `invalid_message` (`not_utf8`, `not_json`, `too_deep`). */
  decode(bytes: Uint8Array): unknown;
  /** The two steps of `decode`, for a caller that needs the JSON, too. */
  toText(bytes: Uint8Array): string;
  parse(text: string): unknown;
}

/** Makes a codec of whole messages, with the limits and the errors of the codecs of streams. */
export const createMessageCodec = (options: CodecOptions = {}): MessageCodec => {
  const limits = toMessageLimits(options);
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const toText = (bytes: Uint8Array): string => {
    if (bytes.length > limits.maxFrameBytes) throw new FrameTooLargeError(limits.maxFrameBytes);
    try {
      return utf8.decode(bytes);
    } catch {
      throw new InvalidMessageError("not_utf8", "a message is not UTF-8");
    }
  };
  const parse = (text: string): unknown => {
    const message = parseMessage(text, limits.maxDepth);
    if (message instanceof InvalidMessageError) throw message;
    return message;
  };
  return {
    encode: (message) => encodeMessage(message, limits),
    decode: (bytes) => parse(toText(bytes)),
    toText,
    parse,
  };
};
