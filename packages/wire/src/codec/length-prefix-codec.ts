import { FrameTooLargeError, InvalidMessageError } from "../errors.ts";
import { defaultWireLimits } from "../limits.ts";
import { ByteBuffer } from "./byte-buffer.ts";
import type { Codec, CodecOptions, Decoder, Encoder } from "./codec.ts";
import { FaultRun } from "./fault-run.ts";
import { checkFrameSize, parseMessage, stringifyMessage } from "./json-text.ts";

const headerBytes = 4;
/** What an encoder's memory begins with: twice what was taken last, within these. */
const minFirstBytes = 8 * 1024;
const maxFirstBytes = 64 * 1024;

const writeHeader = (bytes: Uint8Array, at: number, length: number): void => {
  bytes[at] = length >>> 24;
  bytes[at + 1] = length >>> 16;
  bytes[at + 2] = length >>> 8;
  bytes[at + 3] = length;
};

const readHeader = (bytes: Uint8Array, at: number): number =>
  (((bytes[at] ?? 0) << 24) |
    ((bytes[at + 1] ?? 0) << 16) |
    ((bytes[at + 2] ?? 0) << 8) |
    (bytes[at + 3] ?? 0)) >>>
  0;

class LengthPrefixEncoder implements Encoder {
  readonly #utf8 = new TextEncoder();
  #bytes = new Uint8Array(0);
  #length = 0;
  #firstBytes = minFirstBytes;

  constructor(
    readonly maxFrameBytes: number,
    readonly maxDepth: number,
  ) {}

  get pending(): number {
    return this.#length;
  }

  add(message: unknown): void {
    const text = stringifyMessage(message, this.maxDepth);
    checkFrameSize(text, this.maxFrameBytes);
    this.#reserve(headerBytes + 3 * text.length);
    const { written } = this.#utf8.encodeInto(text, this.#bytes.subarray(this.#length + headerBytes));
    writeHeader(this.#bytes, this.#length, written);
    this.#length += headerBytes + written;
  }

  /** Hands the memory over with the bytes: they are still being written while the next messages are added. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#firstBytes = Math.min(maxFirstBytes, Math.max(minFirstBytes, 2 * this.#length));
    this.#bytes = new Uint8Array(0);
    this.#length = 0;
    return taken;
  }

  #reserve(extra: number): void {
    const needed = this.#length + extra;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, 2 * this.#bytes.length, this.#firstBytes));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}

class LengthPrefixDecoder implements Decoder {
  readonly #utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  readonly #partial = new ByteBuffer();
  readonly #faults = new FaultRun();
  #broken = false;

  constructor(
    readonly maxFrameBytes: number,
    readonly maxDepth: number,
  ) {}

  get broken(): boolean {
    return this.#broken;
  }

  push(chunk: Uint8Array): unknown[] {
    const out: unknown[] = [];
    let at = 0;
    while (at < chunk.length && !this.#broken) {
      if (this.#partial.length > 0 || chunk.length - at < headerBytes) {
        at = this.#continueFrame(chunk, at, out);
        continue;
      }
      const length = this.#announced(chunk, at, out);
      if (length === -1) break;
      const end = at + headerBytes + length;
      if (end > chunk.length) {
        this.#partial.append(chunk.subarray(at));
        break;
      }
      this.#read(chunk.subarray(at + headerBytes, end), out);
      at = end;
    }
    return out;
  }

  end(): unknown[] {
    if (this.#broken || this.#partial.length === 0) return [];
    this.#partial.clear();
    return [new InvalidMessageError("incomplete", "the input ended inside a message")];
  }

  /** Takes from the chunk what the frame that began earlier still lacks. Returns where the chunk goes on. */
  #continueFrame(chunk: Uint8Array, at: number, out: unknown[]): number {
    const missingHeader = headerBytes - this.#partial.length;
    if (missingHeader > 0) {
      const end = Math.min(at + missingHeader, chunk.length);
      this.#partial.append(chunk.subarray(at, end));
      if (this.#partial.length < headerBytes) return end;
      at = end;
    }
    const length = this.#announced(this.#partial.view(), 0, out);
    if (length === -1) return chunk.length;
    const end = Math.min(at + headerBytes + length - this.#partial.length, chunk.length);
    this.#partial.append(chunk.subarray(at, end));
    if (this.#partial.length === headerBytes + length) {
      this.#read(this.#partial.view().subarray(headerBytes), out);
      this.#partial.clear();
    }
    return end;
  }

  /** The announced length, or -1 when it is over the limit: nothing was allocated for it, and no way leads on. */
  #announced(bytes: Uint8Array, at: number, out: unknown[]): number {
    const length = readHeader(bytes, at);
    if (length <= this.maxFrameBytes) return length;
    this.#broken = true;
    this.#partial.clear();
    out.push(new FrameTooLargeError(this.maxFrameBytes));
    return -1;
  }

  #read(payload: Uint8Array, out: unknown[]): void {
    if (payload.length === 0) {
      this.#fault(new InvalidMessageError("empty_frame", "a frame is empty"), out);
      return;
    }
    let text: string;
    try {
      text = this.#utf8.decode(payload);
    } catch (cause) {
      this.#fault(new InvalidMessageError("not_utf8", "a message is not UTF-8", { cause }), out);
      return;
    }
    const message = parseMessage(text, this.maxDepth);
    if (message instanceof InvalidMessageError) {
      this.#fault(message, out);
      return;
    }
    this.#faults.end();
    out.push(message);
  }

  #fault(error: InvalidMessageError, out: unknown[]): void {
    out.push(error);
    const flood = this.#faults.add();
    if (!flood) return;
    this.#broken = true;
    out.push(flood);
  }
}

/**
 * Each message behind its length: four bytes, unsigned, big-endian. A length over the limit is refused on the
 * header, before anything is allocated, and ends the connection: nothing tells where the next message begins. So do 1000
 * frames in a row that hold no message.
 */
export const lengthPrefixCodec = (options: CodecOptions = {}): Codec => {
  const { maxFrameBytes = defaultWireLimits.maxFrameBytes, maxDepth = defaultWireLimits.maxDepth } = options;
  return {
    createEncoder: () => new LengthPrefixEncoder(maxFrameBytes, maxDepth),
    createDecoder: () => new LengthPrefixDecoder(maxFrameBytes, maxDepth),
  };
};
