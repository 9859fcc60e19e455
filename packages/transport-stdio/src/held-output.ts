import type { Readable } from "node:stream";

/**
 * A child's output, held until it is released. Node lets the streams of a process that ended flow,
 * whether they were paused or not; what comes then is kept here, and its end comes behind it.
 */
export class HeldOutput {
  readonly #stream: Readable;
  readonly #receiver: { bytes(chunk: Uint8Array): void; end(): void };
  #chunks: Uint8Array[] = [];
  #held = true;
  #dropped = false;
  #ended = false;
  #isEndReported = false;

  constructor(stream: Readable, receiver: { bytes(chunk: Uint8Array): void; end(): void }) {
    this.#stream = stream;
    this.#receiver = receiver;
    stream.pause();
    stream.on("data", (chunk: Uint8Array) => this.#received(chunk));
    stream.on("error", () => {});
    stream.on("end", () => this.#reachedEnd());
    stream.on("close", () => this.#reachedEnd());
  }

  /** True when everything was handed over or dropped. */
  get done(): boolean {
    return this.#isEndReported;
  }

  hold(): void {
    if (this.#dropped) return;
    this.#held = true;
    this.#stream.pause();
  }

  release(): void {
    this.#held = false;
    while (this.#chunks.length > 0 && !this.#held) {
      const chunk = this.#chunks.shift();
      if (chunk) this.#receiver.bytes(chunk);
    }
    if (this.#held) return;
    if (this.#ended) this.#tellEnd();
    else this.#stream.resume();
  }

  /** Reads on and throws everything away, so that the writer can end. */
  drop(): void {
    this.#dropped = true;
    this.#chunks = [];
    this.release();
  }

  /** Stops reading at once. */
  destroy(): void {
    this.#stream.destroy();
    this.drop();
  }

  #received(chunk: Uint8Array): void {
    if (this.#dropped) return;
    if (!this.#held) {
      this.#receiver.bytes(chunk);
      return;
    }
    this.#chunks.push(chunk);
    this.#stream.pause();
  }

  #reachedEnd(): void {
    this.#ended = true;
    if (!this.#held) this.#tellEnd();
  }

  #tellEnd(): void {
    if (this.#isEndReported) return;
    this.#isEndReported = true;
    this.#receiver.end();
  }
}
