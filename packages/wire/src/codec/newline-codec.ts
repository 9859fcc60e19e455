import { utf8Length } from "@harnesskit/protocol/base";
import { FrameTooLargeError, InvalidArgumentError, InvalidMessageError, type LineEnds } from "../errors.ts";
import { ByteBuffer } from "./byte-buffer.ts";
import type { Codec, CodecOptions, Decoder, Encoder } from "./codec.ts";
import { encodeMessage, type MessageLimits, toMessageLimits } from "./json-text.ts";
import { MessageReader } from "./message-reader.ts";

const newline = 0x0a;
const otherFraming =
  ': lines of JSON were expected, and a zero came: the other side may have framing: "length-prefix"';
const byteOrderMark = "\ufeff";
/** Bytes of either end of a dropped line that its error has; UTF-16 units of one that was decoded. */
const endBytes = 512;

/** A message and the line that it came in, or goes out as, without the newline. */
export class JsonLine {
  readonly text: string;
  readonly value: unknown;

  /** `text` must be the JSON of `value`, in one line. */
  constructor(text: string, value: unknown) {
    this.text = text;
    this.value = value;
  }
}

/** The last bytes of what has come of a line and of its next part. */
const lastBytes = (begun: Uint8Array, part: Uint8Array): Uint8Array => {
  const last = new Uint8Array([...begun.slice(-endBytes), ...part.slice(-endBytes)]);
  return last.slice(-endBytes);
};

const endsOf = (line: string): LineEnds => ({ first: line.slice(0, endBytes), last: line.slice(-endBytes) });
const endsOfBytes = (first: Uint8Array, last: Uint8Array): LineEnds => {
  const utf8 = new TextDecoder();
  return { first: utf8.decode(first.subarray(0, endBytes)), last: utf8.decode(last.slice(-endBytes)) };
};

class NewlineEncoder implements Encoder {
  readonly #limits: MessageLimits;
  #text = "";

  constructor(limits: MessageLimits) {
    this.#limits = limits;
  }

  get pending(): number {
    return this.#text.length;
  }

  add(message: unknown): void {
    const line =
      message instanceof JsonLine ? this.#check(message.text) : encodeMessage(message, this.#limits);
    this.#text += `${line}\n`;
  }

  #check(line: string): string {
    if (line.includes("\n")) throw new InvalidArgumentError("the text of a JsonLine has a newline");
    if (utf8Length(line) > this.#limits.maxFrameBytes)
      throw new FrameTooLargeError(this.#limits.maxFrameBytes);
    return line;
  }

  take(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }
}

class NewlineDecoder implements Decoder {
  readonly #maxFrameBytes: number;
  readonly #reader: MessageReader;
  readonly #keepsLines: boolean;
  readonly #line = new ByteBuffer();
  /** The last bytes of a line that is over the limit: it is dropped up to its newline. */
  #dropped: Uint8Array | undefined;

  constructor(limits: MessageLimits, keepsLines: boolean) {
    this.#keepsLines = keepsLines;
    this.#maxFrameBytes = limits.maxFrameBytes;
    this.#reader = new MessageReader(limits);
  }

  get broken(): boolean {
    return this.#reader.isBroken;
  }

  push(chunk: Uint8Array): unknown[] {
    const out: unknown[] = [];
    if (this.broken) return out;
    const last = chunk.lastIndexOf(newline);
    if (last === -1) {
      this.#keep(chunk, out);
      return out;
    }
    let start = 0;
    if (this.#line.length > 0 || this.#dropped) {
      start = chunk.indexOf(newline) + 1;
      this.#keep(chunk.subarray(0, start - 1), out);
      this.#finishLine(out);
    }
    if (start <= last) this.#readLines(chunk.subarray(start, last), out);
    if (last + 1 < chunk.length) this.#keep(chunk.subarray(last + 1), out);
    return out;
  }

  end(): unknown[] {
    const out: unknown[] = [];
    if (this.broken || (this.#line.length === 0 && !this.#dropped)) return out;
    const hint = this.#line.view()[0] === 0 ? otherFraming : "";
    this.#finishLine(out);
    const [message] = out;
    if (message instanceof InvalidMessageError && message.reason !== "too_deep") {
      return [
        new InvalidMessageError("incomplete", `the input ended inside a message${hint}`, { cause: message }),
      ];
    }
    return out;
  }

  /** Adds to the line that is not complete yet. */
  #keep(part: Uint8Array, out: unknown[]): void {
    if (this.#dropped) {
      if (this.#keepsLines) this.#dropped = lastBytes(this.#dropped, part);
      return;
    }
    if (this.#line.length + part.length <= this.#maxFrameBytes) {
      this.#line.append(part);
      return;
    }
    this.#dropped = lastBytes(this.#line.view(), part);
    // With its line, the error waits for the line's end.
    if (this.#keepsLines) this.#line.append(part.subarray(0, endBytes));
    else {
      this.#line.clear();
      this.#reader.fault(new FrameTooLargeError(this.#maxFrameBytes), out);
    }
  }

  #finishLine(out: unknown[]): void {
    if (this.#dropped === undefined) this.#read(out, this.#line.view());
    else if (this.#keepsLines) this.#tooLarge(this.#line.view(), this.#dropped, out);
    this.#line.clear();
    this.#dropped = undefined;
  }

  #tooLarge(first: Uint8Array, last: Uint8Array, out: unknown[]): void {
    const ends = this.#keepsLines ? endsOfBytes(first, last) : undefined;
    this.#reader.fault(new FrameTooLargeError(this.#maxFrameBytes, ends), out);
  }

  /** Reads whole lines; the last one has no newline. Decoding them together is what makes small messages fast. */
  #readLines(bytes: Uint8Array, out: unknown[]): void {
    const text = bytes.length > this.#maxFrameBytes ? undefined : this.#reader.decode(bytes);
    if (text === undefined) {
      this.#readLinesApart(bytes, out);
      return;
    }
    let start = 0;
    for (;;) {
      const end = text.indexOf("\n", start);
      this.#read(out, bytes, end === -1 ? text.slice(start) : text.slice(start, end));
      if (end === -1 || this.broken) return;
      start = end + 1;
    }
  }

  /** One line at a time: where one of them may be over the limit or not UTF-8, the others still count. */
  #readLinesApart(bytes: Uint8Array, out: unknown[]): void {
    for (let start = 0; start <= bytes.length && !this.broken; ) {
      const found = bytes.indexOf(newline, start);
      const end = found === -1 ? bytes.length : found;
      if (end - start > this.#maxFrameBytes) {
        const line = bytes.subarray(start, end);
        this.#tooLarge(line, line, out);
      } else this.#read(out, bytes.subarray(start, end));
      start = end + 1;
    }
  }

  /** Reads one line: its text, or that of its bytes. */
  #read(out: unknown[], bytes: Uint8Array, text = this.#reader.decode(bytes)): void {
    const line = text?.startsWith(byteOrderMark) ? text.slice(1) : text;
    if (line !== undefined && line.trim() === "") return;
    const at = out.length;
    this.#reader.read(line, out);
    if (!this.#keepsLines) return;
    const read = out[at];
    if (read instanceof InvalidMessageError) {
      const { reason, message, cause } = read;
      const ends = endsOf(text ?? new TextDecoder().decode(bytes));
      out[at] = new InvalidMessageError(reason, message, { cause, ends });
    } else if (line !== undefined) out[at] = new JsonLine(line, read);
  }
}

export interface NewlineCodecOptions extends CodecOptions {
  /** Deliver a {@link JsonLine} for each message, so that a proxy can pass its line on unchanged. @default false */
  readonly keepLines?: boolean | undefined;
}

/**
 * One JSON message a line, ended by LF. Empty lines are skipped, a CR before the LF is white space, a byte order mark before a
 * message is left out (RFC 8259, section 8.1), a last line needs no newline. A line over the limit is dropped up to its newline, and reading goes on behind it, but not behind 1000
 * invalid lines in a row. A {@link JsonLine} is sent as its text. With `keepLines` the error of a line has the line's ends.
 */
export const newlineCodec = (options: NewlineCodecOptions = {}): Codec => {
  const limits = toMessageLimits(options);
  return {
    createEncoder: () => new NewlineEncoder(limits),
    createDecoder: () => new NewlineDecoder(limits, options.keepLines ?? false),
  };
};
