import type { Readable, Writable } from "node:stream";
import type { BytePipe, ByteReceiver } from "@harnesskit/wire";
import { type HarnessError, TransportError } from "@harnesskit/wire";

export interface StreamPipeOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Whether closing ends the output. What belongs to the process is only flushed. */
  readonly endOutput: boolean;
  /** Names the reason when a stream fails. */
  readonly toError: (cause: unknown, stream: "input" | "output") => HarnessError;
  /** Called once, to give the streams up; with the error that broke them. */
  readonly release: (error: HarnessError | undefined) => void;
}

const ignore = () => {};

/** A byte pipe over a readable and a writable stream, which may be one and the same socket. */
export class StreamPipe implements BytePipe {
  readonly #options: StreamPipeOptions;
  #receiver: ByteReceiver | undefined;
  #ending = false;
  #outputDone = false;
  #inputDone = false;
  #closed: { error: HarnessError | undefined } | undefined;

  constructor(options: StreamPipeOptions) {
    this.#options = options;
    const { input, output } = options;
    input.on("error", this.#inputFailed);
    output.on("error", this.#outputFailed);
    output.on("close", this.#outputClosed);
  }

  start(receiver: ByteReceiver): void {
    this.#receiver = receiver;
    if (this.#closed) {
      this.#tellClosed();
      return;
    }
    const { input } = this.#options;
    input.on("data", this.#received);
    input.on("end", this.#inputEnded);
    input.on("close", this.#inputClosed);
    if (input.readableEnded) queueMicrotask(this.#inputEnded);
    else if (input.closed) queueMicrotask(this.#inputClosed);
    else input.resume();
  }

  pause(): void {
    if (!this.#closed) this.#options.input.pause();
  }

  resume(): void {
    if (!this.#closed) this.#options.input.resume();
  }

  write(data: Uint8Array | string, done: (error?: Error | null) => void): void {
    this.#options.output.write(data, done);
  }

  end(): void {
    const { output, endOutput } = this.#options;
    this.#ending = true;
    if (!endOutput || output.destroyed) {
      this.#finish(undefined);
      return;
    }
    output.end(() => {
      this.#outputDone = true;
      this.#finishWhenDone();
    });
  }

  destroy(): void {
    this.#finish(undefined);
  }

  readonly #received = (chunk: Uint8Array): void => this.#receiver?.bytes(chunk);

  readonly #inputEnded = (): void => {
    if (this.#closed || this.#inputDone) return;
    this.#inputDone = true;
    this.#receiver?.end();
    this.#finishWhenDone();
  };

  readonly #inputClosed = (): void => {
    if (!this.#inputDone) this.#inputFailed(undefined);
  };

  readonly #inputFailed = (cause: unknown): void => this.#finish(this.#options.toError(cause, "input"));

  readonly #outputFailed = (cause: unknown): void => this.#finish(this.#options.toError(cause, "output"));

  readonly #outputClosed = (): void => {
    const { output } = this.#options;
    if (output.writableFinished && this.#inputDone) this.#finish(undefined);
    else if (!output.writableFinished) this.#outputFailed(undefined);
  };

  /** One socket for both is closed when the other side is done too, so that nothing on its way is cut off. */
  #finishWhenDone(): void {
    if (!this.#ending || !this.#outputDone) return;
    const { input, output } = this.#options;
    if (this.#inputDone || (input as unknown) !== output) this.#finish(undefined);
  }

  #finish(error: HarnessError | undefined): void {
    if (this.#closed) return;
    this.#closed = { error };
    const { input, output, release } = this.#options;
    input.on("error", ignore);
    input.off("data", this.#received);
    input.off("end", this.#inputEnded);
    input.off("close", this.#inputClosed);
    input.off("error", this.#inputFailed);
    output.on("error", ignore);
    release(error);
    this.#tellClosed();
  }

  #tellClosed(): void {
    const receiver = this.#receiver;
    if (receiver && this.#closed) receiver.closed(this.#closed.error);
  }
}

/** The sentence for a stream that failed. */
export const streamError = (cause: unknown, stream: "input" | "output"): TransportError => {
  const text =
    stream === "input"
      ? "the input can no longer be read"
      : "the output can no longer be written: nobody reads it any more";
  return new TransportError(text, cause === undefined ? undefined : { cause });
};
