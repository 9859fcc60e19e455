import { FrameTooLargeError, InvalidMessageError } from "../errors.ts";
import { ByteBuffer } from "./byte-buffer.ts";
import type { Codec, CodecOptions, Decoder, Encoder } from "./codec.ts";
import { encodeMessage, type MessageLimits, toMessageLimits } from "./json-text.ts";
import { MessageReader } from "./message-reader.ts";

const headerBytes = 4;
const openingBrace = 0x7b;
const otherFraming =
  'four bytes of length were expected, and JSON came: the other side may have framing: "newline"';

const writeHeader = (bytes: Uint8Array, length: number): void => {
  bytes[0] = length >>> 24;
  bytes[1] = length >>> 16;
  bytes[2] = length >>> 8;
  bytes[3] = length;
};

const readHeader = (bytes: Uint8Array, at: number): number =>
  (((bytes[at] ?? 0) << 24) |
    ((bytes[at + 1] ?? 0) << 16) |
    ((bytes[at + 2] ?? 0) << 8) |
    (bytes[at + 3] ?? 0)) >>>
  0;

class LengthPrefixEncoder implements Encoder {
  readonly #limits: MessageLimits;
  readonly #utf8 = new TextEncoder();
  readonly #frames = new ByteBuffer(8 * 1024);

  constructor(limits: MessageLimits) {
    this.#limits = limits;
  }

  get pending(): number {
    return this.#frames.length;
  }

  add(message: unknown): void {
    const text = encodeMessage(message, this.#limits);
    const written = this.#write(text, text.length) ?? this.#write(text, 3 * text.length) ?? 0;
    this.#frames.advance(headerBytes + written);
  }

  /** Writes a frame into room for so many bytes of text, and returns how many it took; undefined where it needs more. */
  #write(text: string, bytes: number): number | undefined {
    const room = this.#frames.reserve(headerBytes + bytes);
    const { read, written } = this.#utf8.encodeInto(text, room.subarray(headerBytes));
    if (read < text.length) return undefined;
    writeHeader(room, written);
    return written;
  }

  take(): Uint8Array {
    return this.#frames.take();
  }
}

class LengthPrefixDecoder implements Decoder {
  readonly #maxFrameBytes: number;
  readonly #reader: MessageReader;
  /** The beginning of a frame that is not complete yet. */
  readonly #partial = new ByteBuffer();

  constructor(limits: MessageLimits) {
    this.#maxFrameBytes = limits.maxFrameBytes;
    this.#reader = new MessageReader(limits);
  }

  get broken(): boolean {
    return this.#reader.isBroken;
  }

  push(chunk: Uint8Array): unknown[] {
    if (this.broken) return [];
    if (this.#partial.length === 0) {
      const [out, end] = this.#readFrames(chunk);
      if (end < chunk.length && !this.broken) this.#partial.append(chunk.subarray(end));
      return out;
    }
    this.#partial.append(chunk);
    const [out, end] = this.#readFrames(this.#partial.view());
    if (this.broken) this.#partial.clear();
    else this.#partial.drop(end);
    return out;
  }

  end(): unknown[] {
    if (this.broken || this.#partial.length === 0) return [];
    this.#partial.clear();
    return [new InvalidMessageError("incomplete", "the input ended inside a message")];
  }

  /** The messages of the complete frames, and where the first incomplete one begins. */
  #readFrames(bytes: Uint8Array): [messages: unknown[], end: number] {
    const out: unknown[] = [];
    let at = 0;
    while (!this.broken && bytes.length - at >= headerBytes) {
      const length = readHeader(bytes, at);
      if (length > this.#maxFrameBytes) {
        this.#reader.isBroken = true;
        const hint = bytes[at] === openingBrace ? otherFraming : undefined;
        out.push(new FrameTooLargeError(this.#maxFrameBytes, undefined, hint));
        break;
      }
      const start = at + headerBytes;
      if (start + length > bytes.length) break;
      at = start + length;
      if (length > 0) this.#reader.read(this.#reader.decode(bytes.subarray(start, at)), out);
      else this.#reader.fault(new InvalidMessageError("empty_frame", "a frame is empty"), out);
    }
    return [out, at];
  }
}

/**
 * Each message behind its length: four bytes, unsigned, big-endian. A length over the limit is refused on the
 * header, before anything is allocated, and ends the connection: nothing tells where the next message begins. So do 1000
 * frames in a row that hold no message.
 */
export const lengthPrefixCodec = (options: CodecOptions = {}): Codec => {
  const limits = toMessageLimits(options);
  return {
    createEncoder: () => new LengthPrefixEncoder(limits),
    createDecoder: () => new LengthPrefixDecoder(limits),
  };
};
