import { isContinuation } from "./text.ts";

const mergedBytes = 512;

/** Keeps the first and the last half of a byte stream within `maxBytes`, and counts the rest. */
export class BoundedOutput {
  readonly #headBytes: number;
  readonly #tailBytes: number;
  readonly #head: Buffer[] = [];
  readonly #tail: Buffer[] = [];
  #headLength = 0;
  #tailLength = 0;
  #total = 0;

  constructor(maxBytes: number) {
    this.#headBytes = Math.ceil(maxBytes / 2);
    this.#tailBytes = maxBytes - this.#headBytes;
  }

  /** Whether something was left out. */
  get truncated(): boolean {
    return this.#total > this.#headLength + this.#tailLength;
  }

  push(chunk: Buffer): void {
    this.#total += chunk.length;
    const room = this.#headBytes - this.#headLength;
    if (room > 0) {
      const part = Buffer.from(chunk.subarray(0, room));
      this.#head.push(part);
      this.#headLength += part.length;
    }
    const rest = chunk.subarray(Math.max(0, room));
    if (rest.length > 0) this.#pushTail(rest);
  }

  /** What was kept as text, with a line in the gap that says how many bytes are missing. */
  text(): string {
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    if (!this.truncated) return Buffer.concat([head, tail]).toString("utf8");
    const start = head.subarray(0, wholeLength(head));
    const end = tail.subarray(continuationBytes(tail));
    const missing = this.#total - start.length - end.length;
    return `${start.toString("utf8")}\n[… ${missing} bytes left out …]\n${end.toString("utf8")}`;
  }

  #pushTail(rest: Buffer): void {
    const part = Buffer.from(rest.subarray(Math.max(0, rest.length - this.#tailBytes)));
    this.#tailLength += part.length;
    // Small chunks are merged, so that a stream of single bytes does not become as many buffers.
    const last = this.#tail.at(-1);
    if (last !== undefined && last.length + part.length <= mergedBytes) {
      this.#tail[this.#tail.length - 1] = Buffer.concat([last, part]);
    } else {
      this.#tail.push(part);
    }
    this.#dropFront();
  }

  #dropFront(): void {
    while (this.#tailLength > this.#tailBytes) {
      const first = this.#tail[0];
      if (first === undefined) return;
      const excess = this.#tailLength - this.#tailBytes;
      if (first.length <= excess) this.#tail.shift();
      else this.#tail[0] = first.subarray(excess);
      this.#tailLength -= Math.min(first.length, excess);
    }
  }
}

/** How many bytes at the start belong to a character that began before them. */
function continuationBytes(bytes: Buffer): number {
  let count = 0;
  while (count < 3 && count < bytes.length && isContinuation(bytes[count])) count++;
  return count;
}

/** The length without a last character of which bytes are missing. */
function wholeLength(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
