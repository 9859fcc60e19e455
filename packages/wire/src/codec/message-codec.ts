import { FrameTooLargeError, InvalidMessageError } from "../errors.ts";
import { defaultWireLimits } from "../limits.ts";
import type { CodecOptions } from "./codec.ts";
import { checkFrameSize, parseMessage, stringifyMessage } from "./json-text.ts";

/** One JSON message whose ends something else tells: a body, or a frame of a WebSocket. */
export interface MessageCodec {
  /** Throws `frame_too_large` and `invalid_argument`. */
  encode(message: unknown): string;
  /** Throws `frame_too_large` and `invalid_message` (`not_utf8`, `not_json`, `too_deep`). */
  decode(bytes: Uint8Array): unknown;
}

/** Makes a codec of whole messages, with the limits and the errors of the codecs of streams. */
export const createMessageCodec = (options: CodecOptions = {}): MessageCodec => {
  const { maxFrameBytes = defaultWireLimits.maxFrameBytes, maxDepth = defaultWireLimits.maxDepth } = options;
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const toText = (bytes: Uint8Array): string => {
    try {
      return utf8.decode(bytes);
    } catch (cause) {
      throw new InvalidMessageError("not_utf8", "a message is not UTF-8", { cause });
    }
  };
  return {
    encode(message) {
      const text = stringifyMessage(message, maxDepth);
      checkFrameSize(text, maxFrameBytes);
      return text;
    },
    decode(bytes) {
      if (bytes.length > maxFrameBytes) throw new FrameTooLargeError(maxFrameBytes);
      const message = parseMessage(toText(bytes), maxDepth);
      if (message instanceof InvalidMessageError) throw message;
      return message;
    },
  };
};
