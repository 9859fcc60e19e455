import type { BytePipe, ByteReceiver } from "../byte-channel.ts";
import { ByteBuffer } from "../codec/byte-buffer.ts";
import type { Resolved } from "../define-options.ts";
import { TransportError } from "../errors.ts";

export interface MemoryPipeOptions {
  /** Bytes that are on their way before a write has to wait, as in a socket's buffers. @default 65536 */
  readonly capacityBytes?: number | undefined;
  /**
   * The most bytes delivered at once, or a function that says so anew each time. 1 delivers byte by byte.
   * @default everything that waits
   */
  readonly chunkBytes?: number | (() => number) | undefined;
  /** Whether one side may stop sending and still read. @default true */
  readonly halfClose?: boolean | undefined;
}

interface WaitingWrite {
  readonly endsAt: number;
  readonly done: (error?: Error) => void;
}

const utf8 = new TextEncoder();
const gone = () => new TransportError("the other side is gone");

/** One end, with what the other end wrote and this one has not read. */
class MemoryPipe implements BytePipe {
  other: MemoryPipe = this;
  #receiver: ByteReceiver | undefined;
  readonly #bytes = new ByteBuffer();
  #arrived = 0;
  /** The other end's writes, until few enough bytes wait behind them. */
  readonly #writes: WaitingWrite[] = [];
  #isPaused = false;
  #isScheduled = false;
  #hasEnded = false;
  #hasSeenEnd = false;
  #closed: { readonly error: TransportError | undefined } | undefined;

  constructor(readonly options: Resolved<MemoryPipeOptions>) {}

  start(receiver: ByteReceiver): void {
    this.#receiver = receiver;
    if (this.#closed) this.#reportClosed();
    else this.#schedule();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#schedule();
  }

  write(data: Uint8Array | string, done: (error?: Error | null) => void): void {
    if (this.#hasEnded || this.#closed) queueMicrotask(() => done(gone()));
    else this.other.#arrive(typeof data === "string" ? utf8.encode(data) : data, done);
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.other.#schedule();
    this.#closeWhenDone();
  }

  destroy(): void {
    this.#close();
    this.other.#close(gone());
  }

  #arrive(data: Uint8Array, done: (error?: Error) => void): void {
    this.#bytes.append(data);
    this.#arrived += data.length;
    this.#writes.push({ endsAt: this.#arrived, done });
    this.#schedule();
  }

  /** Goes on in a microtask, one chunk at a time, so that a reader can pause between two. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      if (!this.#closed) this.#step();
    });
  }

  #step(): void {
    this.#settleWrites();
    if (this.#isPaused || !this.#receiver) return;
    if (this.#bytes.length > 0) {
      const { chunkBytes } = this.options;
      const length = Math.max(1, typeof chunkBytes === "function" ? chunkBytes() : chunkBytes);
      const chunk = this.#bytes.view().slice(0, length);
      this.#bytes.drop(chunk.length);
      this.#receiver.bytes(chunk);
      this.#schedule();
    } else if (this.other.#hasEnded && !this.#hasSeenEnd) {
      this.#hasSeenEnd = true;
      if (this.options.halfClose) this.#receiver.end();
      else this.end();
      this.#closeWhenDone();
    }
  }

  #settleWrites(): void {
    const delivered = this.#arrived - this.#bytes.length;
    for (let first = this.#writes[0]; first; first = this.#writes[0]) {
      if (first.endsAt - delivered > this.options.capacityBytes) return;
      this.#writes.shift();
      first.done();
    }
  }

  /** Both ends are done once each has ended and has read the other's end. */
  #closeWhenDone(): void {
    const ends = [this, this.other];
    if (ends.every((end) => end.#hasEnded && end.#hasSeenEnd)) for (const end of ends) end.#close();
  }

  #close(error?: TransportError): void {
    if (this.#closed) return;
    this.#closed = { error };
    this.#bytes.clear();
    for (const { done } of this.#writes.splice(0)) queueMicrotask(() => done(gone()));
    this.#reportClosed();
  }

  #reportClosed(): void {
    const error = this.#closed?.error;
    const receiver = this.#receiver;
    if (receiver) queueMicrotask(() => receiver.closed(error));
  }
}

/**
 * Two ends of a byte stream within one process, with the manners of a socket: bounded buffers, back-pressure, bytes
 * that arrive later and in other pieces than they were written, an end in good order and a cut.
 */
export const createMemoryPipes = (options: MemoryPipeOptions = {}): [BytePipe, BytePipe] => {
  const { capacityBytes = 65_536, chunkBytes = Number.POSITIVE_INFINITY, halfClose = true } = options;
  const resolved = { capacityBytes, chunkBytes, halfClose };
  const first = new MemoryPipe(resolved);
  const second = new MemoryPipe(resolved);
  first.other = second;
  second.other = first;
  return [first, second];
};
