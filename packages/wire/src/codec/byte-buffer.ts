/** Bytes that wait for the rest of their message. Grows by doubling, so that many small chunks stay linear. */
export class ByteBuffer {
  #bytes = new Uint8Array(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(chunk: Uint8Array): void {
    const needed = this.#length + chunk.length;
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(needed, 2 * this.#bytes.length, 256));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(chunk, this.#length);
    this.#length = needed;
  }

  /** The bytes so far. Valid until the next `append` or `clear`. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Empties it, and gives large memory back. */
  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > 64 * 1024) this.#bytes = new Uint8Array(0);
  }
}
