import type { BytePipe, ByteReceiver } from "./byte-channel.ts";
import type { HarnessError } from "./errors.ts";

/** The readable side of a stream of bytes, with no encoding set, as Node's streams and sockets have it. */
export interface StreamInput {
  readonly closed: boolean;
  readonly readableEnded: boolean;
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  off(event: string, listener: (...args: unknown[]) => void): unknown;
  pause(): unknown;
  resume(): unknown;
}

/** The writable side of a stream of bytes, as Node's streams and sockets have it. */
export interface StreamOutput {
  readonly destroyed: boolean;
  readonly writableFinished: boolean;
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  write(data: Uint8Array | string, done: (error?: Error | null) => void): unknown;
  end(done: () => void): unknown;
}

export interface StreamPipeOptions {
  readonly input: StreamInput;
  readonly output: StreamOutput;
  /** Whether closing ends the output. What belongs to the process is only flushed. */
  readonly endOutput: boolean;
  /** Names the reason when a stream fails. */
  readonly toError: (cause: unknown, stream: "input" | "output") => HarnessError;
  /** Called once, to give the streams up; with the error that broke them. */
  readonly release: (error: HarnessError | undefined) => void;
}

const doNothing = () => {};

class StreamPipe implements BytePipe {
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

  readonly #received = (chunk: unknown): void => this.#receiver?.bytes(chunk as Uint8Array);

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
    input.on("error", doNothing);
    input.off("data", this.#received);
    input.off("end", this.#inputEnded);
    input.off("close", this.#inputClosed);
    input.off("error", this.#inputFailed);
    output.on("error", doNothing);
    release(error);
    this.#tellClosed();
  }

  #tellClosed(): void {
    if (this.#closed) this.#receiver?.closed(this.#closed.error);
  }
}

/** Makes a byte pipe of a readable and a writable stream, which may be one and the same socket. */
export const createStreamPipe = (options: StreamPipeOptions): BytePipe => new StreamPipe(options);
