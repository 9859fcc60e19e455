import {
  FrameTooLargeError,
  HarnessError,
  InvalidMessageError,
  lengthPrefixCodec,
  newlineCodec,
} from "@harnesskit/wire";

/** One JSON message as the text of a body or a frame. */
export interface MessageCodec {
  /** Throws `frame_too_large` and `invalid_argument`. */
  encode(message: unknown): string;
  /** Throws `frame_too_large` and `invalid_message`. */
  decode(bytes: Uint8Array): unknown;
}

const headerBytes = 4;

/**
 * Whole messages without a framing of their own, with the limits and errors of wire's codecs: each is written as
 * a line without its end, and read behind a length that never leaves this function.
 */
export const createMessageCodec = (limits: { maxFrameBytes: number; maxDepth: number }): MessageCodec => {
  const { maxFrameBytes } = limits;
  const encoder = newlineCodec(limits).createEncoder();
  const codec = lengthPrefixCodec(limits);
  let decoder = codec.createDecoder();
  const header = new DataView(new ArrayBuffer(headerBytes));
  const headerView = new Uint8Array(header.buffer);
  return {
    encode(message) {
      encoder.add(message);
      return (encoder.take() as string).slice(0, -1);
    },
    decode(bytes) {
      if (bytes.length > maxFrameBytes) throw new FrameTooLargeError(maxFrameBytes);
      if (bytes.length === 0) throw new InvalidMessageError("not_json", "a message is empty");
      header.setUint32(0, bytes.length);
      decoder.push(headerView);
      const [message] = decoder.push(bytes);
      if (HarnessError.isInstance(message)) {
        // What came before, from anybody, is nothing to the next.
        decoder = codec.createDecoder();
        throw message;
      }
      return message;
    },
  };
};
