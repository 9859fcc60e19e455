import type { FileEnd } from "./journal-tail.ts";

const newline = 0x0a;
const blockBytes = 64 * 1024;

/** A line of a file. */
export interface JournalLine {
  /** Without its end; undefined for a line that is longer than it may be. */
  readonly bytes: Buffer | undefined;
  /** How many bytes it has, without its end. */
  readonly length: number;
  /** False for a last line that has no end: its writer died in it, or is writing it. */
  readonly isWhole: boolean;
}

/** Makes lines of blocks that are read one after the other; holds one line at a time. */
export class LineSplitter {
  readonly #maxLineBytes: number;
  #parts: Buffer[] = [];
  #length = 0;

  /** @param maxLineBytes bytes of one line */
  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** The lines that end in the next block. */
  *push(block: Buffer): Generator<JournalLine> {
    let from = 0;
    for (let end = block.indexOf(newline); end !== -1; end = block.indexOf(newline, from)) {
      this.#keep(block.subarray(from, end));
      yield this.#take(true);
      from = end + 1;
    }
    this.#keep(block.subarray(from));
  }

  /** What has no end; undefined for nothing. */
  rest(): JournalLine | undefined {
    return this.#length > 0 ? this.#take(false) : undefined;
  }

  #keep(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > this.#maxLineBytes) this.#parts = [];
    else this.#parts.push(part);
  }

  #take(isWhole: boolean): JournalLine {
    const length = this.#length;
    const bytes = length > this.#maxLineBytes ? undefined : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#length = 0;
    return { bytes, length, isWhole };
  }
}

/**
 * The lines of an open file, in order; holds one of them at a time. Throws as the system does.
 *
 * @param maxLineBytes bytes of one line
 * @param start where a line begins
 */
export function* readLines(
  { fileSystem, file }: Pick<FileEnd, "fileSystem" | "file">,
  maxLineBytes: number,
  start = 0,
): Generator<JournalLine> {
  const splitter = new LineSplitter(maxLineBytes);
  for (let at = start; ; ) {
    const block = Buffer.allocUnsafe(blockBytes);
    const read = block.subarray(0, fileSystem.readSync(file, block, 0, blockBytes, at));
    if (read.length === 0) break;
    at += read.length;
    yield* splitter.push(read);
  }
  const rest = splitter.rest();
  if (rest) yield rest;
}
