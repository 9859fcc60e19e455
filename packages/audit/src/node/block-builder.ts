import { createHash } from "node:crypto";
import type { AuditHead } from "../audit-head.ts";
import { checkOf, checkPrefix, checkSuffixBytes, hashPrefix, writeCheck } from "../line-check.ts";

/** Lines that are written at once, the last of which seals them. */
export interface Block {
  readonly bytes: Buffer;
  readonly lines: number;
  readonly head: AuditHead;
  /** The number of the file that begins with it; absent where it goes on in the same one. */
  readonly file?: number;
}

const quote = 0x22;
const brace = 0x7d;
const newline = 0x0a;
const hashDigits = 64;

export interface BlockBuilderOptions {
  readonly head: AuditHead;
  /** Lines in the file behind the last seal: the next seal covers them. */
  readonly unsealed: Uint8Array;
  readonly unsealedLines: number;
  readonly blockBytes: number;
}

/** Puts lines into a buffer as they will be in the file, each with its check, and seals them. */
export class BlockBuilder {
  readonly #blockBytes: number;
  readonly #chunk: Buffer;
  readonly #view: DataView;
  #used = 0;
  #lastLine = 0;
  #lines = 0;
  #seq: number;
  #hash: string;
  #unsealed: Uint8Array;
  #file: number | undefined;

  constructor({ head, unsealed, unsealedLines, blockBytes }: BlockBuilderOptions) {
    this.#blockBytes = blockBytes;
    this.#chunk = Buffer.allocUnsafeSlow(blockBytes);
    this.#view = new DataView(this.#chunk.buffer);
    this.#seq = head.seq + unsealedLines;
    this.#hash = head.hash;
    this.#unsealed = unsealed;
  }

  /** The last entry's number. */
  get seq(): number {
    return this.#seq;
  }

  get hash(): string {
    return this.#hash;
  }

  /** Whether the next line begins after a seal, in the buffer and in the file. */
  get isSealed(): boolean {
    return this.#lines === 0 && this.#unsealed.length === 0;
  }

  get usedBytes(): number {
    return this.#used;
  }

  get freeBytes(): number {
    return this.#blockBytes - this.#used;
  }

  /** The next line is the first of a file. The block is empty. */
  beginFile(number: number): void {
    this.#file = number;
  }

  /** Adds a line: an entry's JSON without its closing brace, for which there is room. */
  append(body: string): void {
    const start = this.#used;
    const end = start + this.#chunk.write(body, start);
    this.#lastLine = start;
    this.#used = this.#endLine(start, end);
    this.#lines++;
    this.#seq++;
  }

  #endLine(start: number, end: number): number {
    const chunk = this.#chunk;
    const check = checkOf(this.#view, start, end);
    let at = end;
    for (let index = 0; index < checkPrefix.length; index++) chunk[at++] = checkPrefix[index] ?? 0;
    writeCheck(chunk, at, check);
    chunk[at + 8] = quote;
    chunk[at + 9] = brace;
    chunk[at + 10] = newline;
    return at + 11;
  }

  /** Ends the block; undefined for an empty one. */
  seal(): Block | undefined {
    if (this.#lines === 0) return undefined;
    const bodyEnd = this.#used - checkSuffixBytes - 1;
    const chunk = this.#chunk;
    this.#hash = createHash("sha256")
      .update(this.#hash)
      .update(this.#unsealed)
      .update(chunk.subarray(0, bodyEnd))
      .digest("hex");
    chunk.set(hashPrefix, bodyEnd);
    const digits = bodyEnd + hashPrefix.length;
    chunk.write(this.#hash, digits, "latin1");
    chunk[digits + hashDigits] = quote;
    const bytes = Buffer.from(chunk.subarray(0, this.#endLine(this.#lastLine, digits + hashDigits + 1)));
    const head = { seq: this.#seq, hash: this.#hash };
    const block = { bytes, lines: this.#lines, head };
    const file = this.#file;
    this.#reset();
    return file === undefined ? block : { ...block, file };
  }

  #reset(): void {
    this.#used = 0;
    this.#lines = 0;
    this.#file = undefined;
    this.#unsealed = new Uint8Array(0);
  }
}
