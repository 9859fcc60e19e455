/** Collects messages until they leave together. */
export interface Encoder {
  /** What waits, in bytes (for text codecs in UTF-16 units, at most a third below the bytes). */
  readonly pending: number;
  /** Adds one JSON value. Throws `frame_too_large` or `invalid_argument`, and then has added nothing. */
  add(message: unknown): void;
  /** Takes out everything that was added. */
  take(): Uint8Array | string;
}

/** Turns bytes into messages. Pure and synchronous. */
export interface Decoder {
  /**
   * Takes the next bytes as they come. Returns the messages that they completed, in order; in place of what is no
   * message stands the {@link HarnessError} that says so (`invalid_message`, `frame_too_large`).
   */
  push(chunk: Uint8Array): unknown[];
  /** The input ended. Returns what was left over: a last message, or an error for an incomplete one. */
  end(): unknown[];
  /** True after an error that leaves no way to find the next message; the connection has to close. */
  readonly broken: boolean;
}

/** A framing: how messages become bytes and bytes become messages. */
export interface Codec {
  /** Returns an encoder for one connection. */
  createEncoder(): Encoder;
  /** Returns a decoder for one connection. */
  createDecoder(): Decoder;
}

export interface CodecOptions {
  /** Bytes of one message. @default 4194304 (4 MiB) */
  readonly maxFrameBytes?: number | undefined;
  /** How deep a message may nest. @default 80 */
  readonly maxDepth?: number | undefined;
}
