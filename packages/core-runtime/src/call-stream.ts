import type { JsonObject } from "@harnesskit/protocol/envelope";

/** One piece of what a running call says (section 4.3.2). */
export interface StreamChunk {
  readonly seq: number;
  readonly channel: "stdout" | "stderr" | "log" | "status" | "partial_result";
  readonly data: { readonly text: string } | { readonly json: JsonObject };
  /** The agent said that no chunk follows. */
  readonly done?: true;
  /** Chunks just before this one that never arrived: the agent skipped their numbers. */
  readonly missing?: number;
  /** Chunks just before this one that were dropped here, because the reader was too slow. */
  readonly dropped?: number;
}

interface Waiting {
  readonly chunk: StreamChunk;
  readonly bytes: number;
}

const ended: IteratorResult<StreamChunk> = { done: true, value: undefined };

/**
 * The chunks of one call, for one reader. What arrives faster than it is read waits within the limits; then the oldest
 * chunks are dropped, and the next one says how many. The agent is never slowed down: its other calls share the
 * connection.
 */
export class CallStream implements AsyncIterableIterator<StreamChunk> {
  readonly #maxChunks: number;
  readonly #maxBytes: number;
  readonly #waiting: Waiting[] = [];
  #readers: ((result: IteratorResult<StreamChunk>) => void)[] = [];
  #bytes = 0;
  #dropped = 0;
  #ended = false;
  #abandoned = false;

  constructor(limits: { readonly maxStreamChunks: number; readonly maxStreamBytes: number }) {
    this.#maxChunks = limits.maxStreamChunks;
    this.#maxBytes = limits.maxStreamBytes;
  }

  /** Takes a chunk. Returns how many chunks had to be dropped for it, itself included. */
  push(chunk: StreamChunk, bytes: number): number {
    if (this.#ended || this.#abandoned) return 1;
    const reader = this.#readers.shift();
    if (reader) {
      reader({ done: false, value: this.#withDropped(chunk) });
      return 0;
    }
    this.#waiting.push({ chunk, bytes });
    this.#bytes += bytes;
    let dropped = 0;
    while (this.#waiting.length > this.#maxChunks || this.#bytes > this.#maxBytes) {
      this.#bytes -= this.#waiting.shift()?.bytes ?? 0;
      dropped++;
    }
    this.#dropped += dropped;
    return dropped;
  }

  /** A chunk that is too large for any reader: the next one says that it is missing. */
  drop(): number {
    if (!this.#ended && !this.#abandoned) this.#dropped++;
    return 1;
  }

  /** No chunk follows. What waits can still be read. */
  end(): void {
    this.#ended = true;
    for (const reader of this.#readers.splice(0)) reader(ended);
  }

  next(): Promise<IteratorResult<StreamChunk>> {
    const first = this.#waiting.shift();
    if (first) {
      this.#bytes -= first.bytes;
      return Promise.resolve({ done: false, value: this.#withDropped(first.chunk) });
    }
    if (this.#ended || this.#abandoned) return Promise.resolve(ended);
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  /** The reader has enough: what waits is given up, and nothing more is kept. */
  return(): Promise<IteratorResult<StreamChunk>> {
    this.#abandoned = true;
    this.#waiting.length = 0;
    this.#bytes = 0;
    for (const reader of this.#readers.splice(0)) reader(ended);
    return Promise.resolve(ended);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #withDropped(chunk: StreamChunk): StreamChunk {
    if (this.#dropped === 0) return chunk;
    const dropped = this.#dropped;
    this.#dropped = 0;
    return { ...chunk, dropped };
  }
}
