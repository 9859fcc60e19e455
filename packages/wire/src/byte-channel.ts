import { callSafely } from "./call-safely.ts";
import type { Channel, ChannelHandlers, CloseReason } from "./channel.ts";
import type { Codec } from "./codec/codec.ts";
import { createDeferred, type Deferred } from "./deferred.ts";
import {
  BufferFullError,
  ConnectionClosedError,
  HarnessError,
  InvalidArgumentError,
  TransportError,
} from "./errors.ts";
import { defaultWireLimits } from "./limits.ts";
import { MessageQueue } from "./message-queue.ts";
import { type Clock, systemClock } from "./time/clock.ts";

/** Where a byte pipe delivers. */
export interface ByteReceiver {
  /** Bytes have arrived, in order; chunks of any size. */
  bytes(chunk: Uint8Array): void;
  /** The other side sends no more; it may still read. */
  end(): void;
  /** The pipe is gone. Without an error both sides were done. Nothing is delivered afterwards. */
  closed(error?: HarnessError): void;
}

/** Bytes both ways: what a transport must bring so that a codec makes a channel of it. */
export interface BytePipe {
  /** Begins delivery. Called once. */
  start(receiver: ByteReceiver): void;
  /** Stops delivery until `resume`; bytes may still arrive for a moment. */
  pause(): void;
  /** Continues delivery. */
  resume(): void;
  /** Writes, behind what was written before; `done` is called once, when the bytes were handed to the operating system or could not be. */
  write(data: Uint8Array | string, done: (error?: Error | null) => void): void;
  /** Ends in good order: what was written arrives. Leads to `closed`. `error` is the reason, for a pipe that can tell it. */
  end(error?: HarnessError): void;
  /** Ends at once. Leads to `closed`. */
  destroy(): void;
}

export interface ByteChannelOptions<Context> {
  readonly codec: Codec;
  readonly context: Context;
  /** {@link Channel.hint} @default none */
  readonly hint?: string | undefined;
  /** Bytes that may wait for a slow reader. @default 16777216 (16 MiB) */
  readonly maxBufferedBytes?: number | undefined;
  /** How long `close` waits for what is queued and for the other side before it cuts the pipe. @default 2000 */
  readonly closeTimeoutMs?: number | undefined;
  /** Whether the other side may end and still read; where it may not, its end closes the channel. @default true */
  readonly halfClose?: boolean | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}

/** Messages that leave together; all their senders wait on one promise. */
type Batch = Deferred<void>;

/** A batch of this size is written before the tick is over, so that the other end begins while this one still adds. */
const earlyBytes = 8 * 1024;
const earlyMessages = 16;

/** Writes at the same time; what is sent meanwhile leaves in one piece behind them. */
const maxWrites = 8;

class ByteChannel<Context> implements Channel<Context> {
  readonly context: Context;
  readonly closed: Promise<CloseReason>;
  hint: string | undefined;
  readonly #pipe: BytePipe;
  readonly #clock: Clock;
  readonly #encoder;
  readonly #decoder;
  readonly #maxBufferedBytes: number;
  readonly #closeTimeoutMs: number;
  readonly #halfClose: boolean;
  readonly #abort = new AbortController();
  readonly #settleClosed: (reason: CloseReason) => void;
  #queue: MessageQueue | undefined;
  #handlers: ChannelHandlers | undefined;
  #batch: Batch | undefined;
  #batchMessages = 0;
  /** What the pipe has and has not written yet. */
  readonly #writing = new Set<Batch>();
  #writingBytes = 0;
  #state: "open" | "closing" | "closed" = "open";
  #reason: HarnessError | undefined;
  #cancelCloseTimer: (() => void) | undefined;

  constructor(pipe: BytePipe, options: ByteChannelOptions<Context>) {
    this.#pipe = pipe;
    this.context = options.context;
    this.hint = options.hint;
    this.#clock = options.clock ?? systemClock;
    this.#encoder = options.codec.createEncoder();
    this.#decoder = options.codec.createDecoder();
    this.#maxBufferedBytes = options.maxBufferedBytes ?? defaultWireLimits.maxBufferedBytes;
    this.#closeTimeoutMs = options.closeTimeoutMs ?? 2000;
    this.#halfClose = options.halfClose ?? true;
    const closed = createDeferred<CloseReason>();
    this.closed = closed.promise;
    this.#settleClosed = closed.resolve;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  start(handlers: ChannelHandlers): void {
    if (this.#handlers) throw new InvalidArgumentError("the channel was started already");
    this.#handlers = handlers;
    if (this.#state !== "open") {
      if (this.#state === "closed") void this.closed.then((reason) => this.#reportClosed(reason));
      return;
    }
    this.#queue = new MessageQueue(handlers, this.#pipe);
    this.#pipe.start({
      bytes: (chunk) => this.#received(chunk),
      end: () => this.#ended(),
      closed: (error) => {
        // What was cut off is reported, and a last message without its end is delivered, before the close.
        if (this.#state === "open" && !this.#decoder.broken) this.#queue?.push(this.#decoder.end());
        this.#finish(error);
      },
    });
  }

  send(message: unknown): Promise<void> {
    if (this.#state !== "open") return Promise.reject(new ConnectionClosedError());
    if (this.#encoder.pending + this.#writingBytes > this.#maxBufferedBytes) {
      return Promise.reject(new BufferFullError("maxBufferedBytes", this.#maxBufferedBytes));
    }
    try {
      this.#encoder.add(message);
    } catch (error) {
      return Promise.reject(error);
    }
    const batch = this.#batch ?? this.#begin();
    const isDue = ++this.#batchMessages >= earlyMessages || this.#encoder.pending >= earlyBytes;
    if (isDue && this.#writing.size < maxWrites) this.#write(batch);
    return batch.promise;
  }

  close(error?: HarnessError): Promise<void> {
    if (this.#state === "open") {
      this.#state = "closing";
      this.#reason = error;
      this.#queue?.stop();
      this.#cancelCloseTimer = this.#clock.after(this.#closeTimeoutMs, () => this.#pipe.destroy());
      if (!this.#handlers) this.#pipe.start({ bytes() {}, end() {}, closed: (cause) => this.#finish(cause) });
      this.#endWhenWritten();
    }
    return this.closed.then(() => {});
  }

  #begin(): Batch {
    const batch = createDeferred<void>();
    this.#batch = batch;
    if (this.#writing.size === 0) queueMicrotask(this.#flush);
    return batch;
  }

  /** Writes what was sent in this tick, or during the last writes. */
  readonly #flush = (): void => {
    if (this.#batch && this.#writing.size === 0 && this.#state !== "closed") this.#write(this.#batch);
  };

  #write(batch: Batch): void {
    const bytes = this.#encoder.pending;
    this.#batch = undefined;
    this.#batchMessages = 0;
    this.#writing.add(batch);
    this.#writingBytes += bytes;
    this.#pipe.write(this.#encoder.take(), (error) => {
      this.#writing.delete(batch);
      this.#writingBytes -= bytes;
      if (error) batch.reject(toWriteError(error));
      else batch.resolve();
      if (this.#writing.size > 0) return;
      if (this.#batch) this.#flush();
      else if (this.#state === "closing") this.#pipe.end(this.#reason);
    });
  }

  #endWhenWritten(): void {
    if (this.#writing.size > 0) return;
    if (this.#batch) this.#flush();
    else this.#pipe.end(this.#reason);
  }

  #received(chunk: Uint8Array): void {
    if (this.#state !== "open" || this.#decoder.broken) return;
    const messages = this.#decoder.push(chunk);
    const last = messages.at(-1);
    if (this.hint && !messages.every((message) => message instanceof Error)) this.hint = undefined;
    this.#queue?.push(messages);
    if (!this.#decoder.broken) return;
    this.#queue?.whenEmpty(() => void this.close(last as HarnessError));
  }

  #ended(): void {
    if (this.#state !== "open" || this.#decoder.broken) return;
    this.#queue?.push(this.#decoder.end());
    this.#queue?.whenEmpty(() => {
      if (this.#state !== "open") return;
      if (this.#handlers?.end && this.#halfClose) this.#handlers.end();
      else void this.close();
    });
  }

  #finish(error: HarnessError | undefined): void {
    if (this.#state === "closed") return;
    if (this.#state === "open") this.#reason = error;
    this.#state = "closed";
    this.#cancelCloseTimer?.();
    this.#queue?.stop();
    const cause = this.#reason ?? error;
    const lost = new ConnectionClosedError(undefined, cause && { cause });
    for (const batch of this.#writing) batch.reject(lost);
    this.#batch?.reject(lost);
    const reason = this.#reason ? { error: this.#reason } : {};
    this.#abort.abort(lost);
    this.#reportClosed(reason);
    this.#settleClosed(reason);
  }

  #reportClosed(reason: CloseReason): void {
    callSafely(() => this.#handlers?.close(reason));
  }
}

/** Makes a channel of a byte pipe and a codec: what stdio and socket transports share. */
export const createByteChannel = <Context>(
  pipe: BytePipe,
  options: ByteChannelOptions<Context>,
): Channel<Context> => new ByteChannel(pipe, options);

/** A pipe that knows why nothing can be written says so; all else is a failure of the transport. */
const toWriteError = (error: Error): HarnessError =>
  HarnessError.isInstance(error)
    ? error
    : new TransportError("the message could not be written", { cause: error });
