const maxFirstBytes = 64 * 1024;

/** Bytes that are collected. Grows by doubling, so that many small chunks stay linear. */
export class ByteBuffer {
  readonly #minBytes: number;
  /** Room that is made first: what the last bytes that were taken would have fitted in. */
  #firstBytes: number;
  #bytes = new Uint8Array(0);
  #length = 0;

  constructor(minBytes = 256) {
    this.#minBytes = minBytes;
    this.#firstBytes = minBytes;
  }

  get length(): number {
    return this.#length;
  }

  append(chunk: Uint8Array): void {
    this.reserve(chunk.length).set(chunk);
    this.#length += chunk.length;
  }

  /** Makes room for so many bytes more, and returns it to be written. What was written counts after `advance`. */
  reserve(extra: number): Uint8Array {
    const needed = this.#length + extra;
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(needed, 2 * this.#bytes.length, this.#firstBytes));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    return this.#bytes.subarray(this.#length);
  }

  advance(written: number): void {
    this.#length += written;
  }

  /** The bytes so far. Valid until the next `append` or `clear`. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Empties it and returns its bytes, with their memory. */
  take(): Uint8Array {
    const taken = this.view();
    this.#firstBytes = Math.max(this.#minBytes, Math.min(2 * taken.length, maxFirstBytes));
    this.#bytes = new Uint8Array(0);
    this.#length = 0;
    return taken;
  }

  /** Drops so many bytes from its beginning. */
  drop(count: number): void {
    if (count === this.#length) this.clear();
    else if (count > 0) {
      this.#bytes.copyWithin(0, count, this.#length);
      this.#length -= count;
    }
  }

  /** Empties it, and releases large memory. */
  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > maxFirstBytes) this.#bytes = new Uint8Array(0);
  }
}
