import { FrameTooLargeError, type HarnessError, InvalidMessageError } from "../errors.ts";
import { defaultWireLimits } from "../limits.ts";
import { ByteBuffer } from "./byte-buffer.ts";
import type { Codec, CodecOptions, Decoder, Encoder } from "./codec.ts";
import { FaultRun } from "./fault-run.ts";
import { checkFrameSize, parseMessage, stringifyMessage } from "./json-text.ts";

const newline = 0x0a;

class NewlineEncoder implements Encoder {
  #text = "";

  constructor(
    readonly maxFrameBytes: number,
    readonly maxDepth: number,
  ) {}

  get pending(): number {
    return this.#text.length;
  }

  add(message: unknown): void {
    const text = stringifyMessage(message, this.maxDepth);
    checkFrameSize(text, this.maxFrameBytes);
    this.#text += `${text}\n`;
  }

  take(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }
}

class NewlineDecoder implements Decoder {
  readonly #faults = new FaultRun();
  #broken = false;
  readonly #utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  readonly #line = new ByteBuffer();
  /** The line that is arriving is over the limit; it is dropped up to its newline. */
  #dropping = false;

  constructor(
    readonly maxFrameBytes: number,
    readonly maxDepth: number,
  ) {}

  get broken(): boolean {
    return this.#broken;
  }

  push(chunk: Uint8Array): unknown[] {
    const out: unknown[] = [];
    if (this.#broken) return out;
    const last = chunk.lastIndexOf(newline);
    if (last === -1) {
      this.#keep(chunk, out);
      return out;
    }
    let start = 0;
    if (this.#line.length > 0 || this.#dropping) {
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
    if (this.#broken || this.#line.length === 0) return out;
    this.#finishLine(out);
    const [message] = out;
    if (message instanceof InvalidMessageError && message.reason !== "too_deep") {
      return [new InvalidMessageError("incomplete", "the input ended inside a message", { cause: message })];
    }
    return out;
  }

  /** Adds to the line that is not complete yet. */
  #keep(part: Uint8Array, out: unknown[]): void {
    if (this.#dropping) return;
    if (this.#line.length + part.length > this.maxFrameBytes) {
      this.#line.clear();
      this.#dropping = true;
      this.#fault(new FrameTooLargeError(this.maxFrameBytes), out);
      return;
    }
    this.#line.append(part);
  }

  #finishLine(out: unknown[]): void {
    if (!this.#dropping) this.#readLine(this.#line.view(), out);
    this.#line.clear();
    this.#dropping = false;
  }

  /** Reads whole lines, of which the last has no newline. Decoding them together is what makes small messages fast. */
  #readLines(bytes: Uint8Array, out: unknown[]): void {
    const text = this.#decodeTogether(bytes);
    if (text === undefined) {
      this.#readLinesApart(bytes, out);
      return;
    }
    let start = 0;
    for (;;) {
      const end = text.indexOf("\n", start);
      this.#parse(end === -1 ? text.slice(start) : text.slice(start, end), out);
      if (end === -1 || this.#broken) return;
      start = end + 1;
    }
  }

  #decodeTogether(bytes: Uint8Array): string | undefined {
    if (bytes.length > this.maxFrameBytes) return undefined;
    try {
      return this.#utf8.decode(bytes);
    } catch {
      return undefined;
    }
  }

  /** One line at a time: where one of them may be over the limit or not UTF-8, the others still count. */
  #readLinesApart(bytes: Uint8Array, out: unknown[]): void {
    for (let start = 0; start <= bytes.length && !this.#broken; ) {
      const found = bytes.indexOf(newline, start);
      const end = found === -1 ? bytes.length : found;
      if (end - start > this.maxFrameBytes) this.#fault(new FrameTooLargeError(this.maxFrameBytes), out);
      else this.#readLine(bytes.subarray(start, end), out);
      start = end + 1;
    }
  }

  #readLine(bytes: Uint8Array, out: unknown[]): void {
    let text: string;
    try {
      text = this.#utf8.decode(bytes);
    } catch (cause) {
      this.#fault(new InvalidMessageError("not_utf8", "a message is not UTF-8", { cause }), out);
      return;
    }
    this.#parse(text, out);
  }

  #parse(text: string, out: unknown[]): void {
    if (text.length === 0) return;
    const message = parseMessage(text, this.maxDepth);
    if (!(message instanceof InvalidMessageError)) {
      this.#faults.end();
      out.push(message);
    } else if (text.trim() !== "") this.#fault(message, out);
  }

  #fault(error: HarnessError, out: unknown[]): void {
    out.push(error);
    const flood = this.#faults.add();
    if (!flood) return;
    this.#broken = true;
    this.#line.clear();
    out.push(flood);
  }
}

/**
 * One JSON message a line, ended by LF. Empty lines are skipped, a CR before the LF is white space, a last line needs
 * no newline. A line over the limit is dropped up to its newline, and reading goes on behind it, but not behind 1000 lines
 * in a row that are no messages.
 */
export const newlineCodec = (options: CodecOptions = {}): Codec => {
  const { maxFrameBytes = defaultWireLimits.maxFrameBytes, maxDepth = defaultWireLimits.maxDepth } = options;
  return {
    createEncoder: () => new NewlineEncoder(maxFrameBytes, maxDepth),
    createDecoder: () => new NewlineDecoder(maxFrameBytes, maxDepth),
  };
};
