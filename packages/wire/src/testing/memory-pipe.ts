import type { BytePipe, ByteReceiver } from "../byte-channel.ts";
import { ByteBuffer } from "../codec/byte-buffer.ts";
import { TransportError } from "../errors.ts";

export interface MemoryPipeOptions {
  /** Bytes that are on their way before a write has to wait, as in a socket's buffers. @default 65536 */
  readonly capacityBytes?: number;
  /**
   * The most bytes delivered at once, or a function that says so anew each time. 1 delivers byte by byte.
   * @default everything that waits
   */
  readonly chunkBytes?: number | (() => number);
  /** Whether one side may stop sending and still read. @default true */
  readonly halfClose?: boolean;
}

interface WaitingWrite {
  readonly endsAt: number;
  readonly done: (error?: Error) => void;
}

const gone = () => new TransportError("the other side is gone");

/** The bytes from one end to the other. */
class Flow {
  #bytes = new ByteBuffer();
  #offset = 0;
  #written = 0;
  #delivered = 0;
  #ended = false;
  #endSeen = false;
  #scheduled = false;
  #broken = false;
  #receiver: Pick<ByteReceiver, "bytes" | "end"> | undefined;
  paused = false;
  readonly #waiting: WaitingWrite[] = [];

  constructor(
    readonly capacityBytes: number,
    readonly nextChunkBytes: () => number,
  ) {}

  start(receiver: Pick<ByteReceiver, "bytes" | "end">): void {
    this.#receiver = receiver;
    this.schedule();
  }

  write(data: Uint8Array, done: (error?: Error) => void): void {
    if (this.#ended || this.#broken) {
      queueMicrotask(() => done(gone()));
      return;
    }
    this.#bytes.append(data);
    this.#written += data.length;
    this.#waiting.push({ endsAt: this.#written, done });
    this.schedule();
  }

  end(): void {
    this.#ended = true;
    this.schedule();
  }

  break(): void {
    this.#broken = true;
    this.#bytes = new ByteBuffer();
    for (const { done } of this.#waiting.splice(0)) queueMicrotask(() => done(gone()));
  }

  /** Goes on in a microtask, one chunk at a time, so that a reader can pause between two. */
  schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#step();
    });
  }

  #step(): void {
    if (this.#broken) return;
    this.#settleWrites();
    if (this.paused || !this.#receiver) return;
    const waiting = this.#bytes.length - this.#offset;
    if (waiting > 0) {
      this.#deliver(Math.max(1, Math.min(waiting, this.nextChunkBytes())));
      this.schedule();
    } else if (this.#ended && !this.#endSeen) {
      this.#endSeen = true;
      this.#receiver.end();
    }
  }

  #deliver(length: number): void {
    const chunk = this.#bytes.view().slice(this.#offset, this.#offset + length);
    this.#offset += length;
    this.#delivered += length;
    if (this.#offset * 2 >= this.#bytes.length) this.#dropDelivered();
    this.#receiver?.bytes(chunk);
  }

  /** Done when half of the bytes are delivered, so that copying the rest costs no more than writing it did. */
  #dropDelivered(): void {
    const rest = this.#bytes.view().slice(this.#offset);
    this.#bytes.clear();
    this.#offset = 0;
    this.#bytes.append(rest);
  }

  #settleWrites(): void {
    for (;;) {
      const [first] = this.#waiting;
      if (!first || first.endsAt - this.#delivered > this.capacityBytes) return;
      this.#waiting.shift();
      first.done();
    }
  }
}

class MemoryPipe implements BytePipe {
  other: MemoryPipe | undefined;
  #receiver: ByteReceiver | undefined;
  #ended = false;
  #otherEnded = false;
  #closed: { error?: TransportError } | undefined;
  #told = false;
  readonly #utf8 = new TextEncoder();

  constructor(
    readonly out: Flow,
    readonly into: Flow,
    readonly halfClose: boolean,
  ) {}

  start(receiver: ByteReceiver): void {
    this.#receiver = receiver;
    if (this.#closed) this.#tell();
    else this.into.start({ bytes: (chunk) => this.#receive(chunk), end: () => this.#receiveEnd() });
  }

  pause(): void {
    this.into.paused = true;
  }

  resume(): void {
    this.into.paused = false;
    this.into.schedule();
  }

  write(data: Uint8Array | string, done: (error?: Error | null) => void): void {
    this.out.write(typeof data === "string" ? this.#utf8.encode(data) : data, done);
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.out.end();
    this.#closeWhenDone();
  }

  destroy(): void {
    this.#close();
    this.other?.cut();
  }

  cut(): void {
    this.#close(gone());
  }

  #receive(chunk: Uint8Array): void {
    if (!this.#closed) this.#receiver?.bytes(chunk);
  }

  #receiveEnd(): void {
    if (this.#closed) return;
    this.#otherEnded = true;
    if (this.halfClose) this.#receiver?.end();
    else this.end();
    this.#closeWhenDone();
  }

  /** Both ends are done once each has ended and has read the other's end. */
  #closeWhenDone(): void {
    const { other } = this;
    if (!this.#ended || !this.#otherEnded || !other) return;
    if (other.#ended && other.#otherEnded) {
      this.#close();
      other.#close();
    }
  }

  #close(error?: TransportError): void {
    if (this.#closed) return;
    this.#closed = error ? { error } : {};
    this.out.break();
    this.into.break();
    this.#tell();
  }

  #tell(): void {
    if (this.#told || !this.#receiver || !this.#closed) return;
    this.#told = true;
    const { error } = this.#closed;
    const receiver = this.#receiver;
    queueMicrotask(() => receiver.closed(error));
  }
}

/**
 * Two ends of a byte stream within one process, with the manners of a socket: bounded buffers, back-pressure, bytes
 * that arrive later and in other pieces than they were written, an end in good order and a cut.
 */
export const createMemoryPipes = (options: MemoryPipeOptions = {}): [BytePipe, BytePipe] => {
  const { capacityBytes = 65_536, chunkBytes = Number.POSITIVE_INFINITY, halfClose = true } = options;
  const nextChunkBytes = typeof chunkBytes === "function" ? chunkBytes : () => chunkBytes;
  const forth = new Flow(capacityBytes, nextChunkBytes);
  const back = new Flow(capacityBytes, nextChunkBytes);
  const first = new MemoryPipe(forth, back, halfClose);
  const second = new MemoryPipe(back, forth, halfClose);
  first.other = second;
  second.other = first;
  return [first, second];
};
