import { ShellErrorCode, type StreamError, type StreamFrame } from "@harnesskit/protocol/openharness";
import { createDeferred, type Deferred, type StreamedMessage } from "@harnesskit/wire";
import type { ResponseStream } from "./response-stream.ts";

const over = { done: true, value: undefined } as const;

/** Whether nothing follows a frame. */
export const isLastFrame = (frame: StreamFrame): boolean =>
  frame.type === "end" || (frame.type === "error" && frame.error.code !== ShellErrorCode.FramesDropped);

/**
 * Reads a stream as fast as it is asked to: it holds a position and no frames. One that has fallen behind what is kept gets
 * `frames_dropped`, once, and then the end.
 */
export class StreamReader implements AsyncIterableIterator<StreamedMessage> {
  readonly #stream: ResponseStream;
  readonly #taken = new AbortController();
  #seq: number;
  #isBehind = false;
  #failure: StreamError | undefined;
  #isOver = false;
  #wake: Deferred<void> | undefined;

  constructor(
    stream: ResponseStream,
    seq: number,
    /** Over which it is read; undefined where that carries one stream alone. */
    readonly connection: object | undefined,
  ) {
    this.#stream = stream;
    this.#seq = seq;
  }

  /** There is something new. */
  wake(): void {
    this.#wake?.resolve();
    this.#wake = undefined;
  }

  get signal(): AbortSignal {
    return this.#taken.signal;
  }

  /** Another connection reads from now on: ends with a frame that says so. */
  giveUp(failure: StreamError): void {
    this.#failure = failure;
    this.wake();
    this.#taken.abort();
  }

  /** A frame could not be sent: only the end counts from now on. */
  fallBehind(): void {
    this.#seq = -1;
  }

  /** Ends without another frame. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stream.leave(this);
    this.wake();
  }

  async next(): Promise<IteratorResult<StreamedMessage>> {
    while (!this.#isOver) {
      const frame = this.#failure ?? this.#take();
      if (frame) {
        if (isLastFrame(frame)) this.close();
        return { done: false, value: toStreamedMessage(frame) };
      }
      this.#wake ??= createDeferred<void>();
      await this.#wake.promise;
    }
    return over;
  }

  async return(): Promise<IteratorResult<StreamedMessage>> {
    this.close();
    return over;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #take(): StreamFrame | undefined {
    if (this.#isBehind) return this.#stream.endFrame;
    const frame = this.#stream.take(this.#seq);
    if (frame?.type === "error") this.#isBehind = true;
    else if (frame) this.#seq++;
    return frame;
  }
}

const toStreamedMessage = (frame: StreamFrame): StreamedMessage =>
  frame.type === "error" ? { message: frame } : { message: frame, id: String(frame.seq) };
