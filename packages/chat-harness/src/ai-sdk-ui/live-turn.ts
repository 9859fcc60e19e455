import { createDeferred, HarnessError } from "@harnesskit/wire";
import type { HarnessUIMessage, HarnessUIMessageChunk } from "./message-types.ts";

/** A turn that runs here: its chunks by number, for each reader from where it begins. */
export class LiveTurn {
  readonly abort = new AbortController();
  /** What the turn was sent; undefined for one that a signal resumed. */
  readonly sent: HarnessUIMessage | undefined;
  /** How many messages the session had before it. @default not known yet: all that it has */
  before: number | undefined;
  readonly #maxChars: number;
  readonly #chunks: HarnessUIMessageChunk[] = [];
  /** Resolves when there is more to read, or the end. */
  #news = createDeferred<void>();
  /** Chunks that only a reader of the whole message gets: what was before a pause. */
  #past = 0;
  #chars = 0;
  #isEnded = false;

  constructor(sent: HarnessUIMessage | undefined, maxChars: number) {
    this.sent = sent;
    this.#maxChars = maxChars;
  }

  /** Adds what the message had before this turn went on with it. */
  addPast(chunks: readonly HarnessUIMessageChunk[]): void {
    this.#chunks.push(...chunks);
    this.#past = this.#chunks.length;
  }

  /** Adds what happened. Over the limit the turn goes on, and its readers get an error instead. */
  add(chunks: readonly HarnessUIMessageChunk[]): void {
    for (const chunk of chunks) {
      this.#chars += JSON.stringify(chunk).length;
      this.#chunks.push(chunk);
    }
    if (this.#chars > this.#maxChars) this.#chunks.length = 0;
    this.#wake();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /** The chunks from the beginning of the turn, or of its whole message. Cancelling it leaves the turn running. */
  read({ whole }: { readonly whole: boolean }): ReadableStream<HarnessUIMessageChunk> {
    let at = whole ? 0 : this.#past;
    return new ReadableStream({
      pull: async (controller) => {
        while (at >= this.#chunks.length && !this.#isEnded && this.#chars <= this.#maxChars)
          await this.#news.promise;
        if (this.#chars > this.#maxChars) {
          controller.error(new HarnessError("buffer_full", "The answer is too long to be streamed."));
          return;
        }
        const chunk = this.#chunks[at++];
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
    });
  }

  #wake(): void {
    const news = this.#news;
    this.#news = createDeferred();
    news.resolve();
  }
}
