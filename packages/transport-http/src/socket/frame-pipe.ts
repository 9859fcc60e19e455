import {
  type BytePipe,
  type ByteReceiver,
  type Clock,
  type HarnessError,
  TransportError,
} from "@harnesskit/wire";
import { WebSocketCloseError } from "../errors.ts";
import { closeCode } from "./frame-codec.ts";
import type { FrameSocket } from "./frame-socket.ts";

const inGoodOrder = new Set([1000, 1001, 1005]);

const toCloseError = (code: number, reason: string): HarnessError =>
  code === 1006
    ? new TransportError("the connection broke off: the other side is gone")
    : new WebSocketCloseError(code, "peer", reason);

export interface FramePipeOptions {
  readonly clock: Clock;
  /** How long messages may wait for a handler once the other side has closed. */
  readonly closeTimeoutMs: number;
}

/** A WebSocket as the pipe below a channel. */
export class FramePipe implements BytePipe {
  readonly #socket: FrameSocket;
  readonly #options: FramePipeOptions;
  #receiver: ByteReceiver | undefined;
  #ending = false;
  /** What closed it; `null` for a close in good order. */
  #closed: HarnessError | null | undefined;
  #isReported = false;
  #cancelTimer: (() => void) | undefined;
  /** What an `end` tells the other side. */
  closeCode: number = closeCode.normal;

  constructor(socket: FrameSocket, options: FramePipeOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.listen({
      frame: (bytes) => this.#receiver?.bytes(bytes),
      failed: (error) => this.#finish(error),
      closed: (code, reason) => this.#finish(inGoodOrder.has(code) ? null : toCloseError(code, reason)),
    });
  }

  start(receiver: ByteReceiver): void {
    this.#receiver = receiver;
    if (this.#closed === undefined) this.#socket.resume();
    else this.#deliverClose();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  write(data: Uint8Array | string, done: (error?: Error | null) => void): void {
    const lines = data as string;
    this.#socket.send(lines.slice(0, -1).split("\n"), done);
  }

  end(): void {
    this.#ending = true;
    if (this.#closed === undefined) this.#socket.close(this.closeCode);
    else this.#report();
  }

  destroy(): void {
    this.#ending = true;
    this.#socket.terminate();
    this.#finish(null);
  }

  #finish(error: HarnessError | null): void {
    if (this.#closed !== undefined) return;
    this.#closed = error;
    if (this.#receiver) this.#deliverClose();
  }

  /** After a close in good order the messages before it are handled first, as far as their handlers come to an end. */
  #deliverClose(): void {
    if (this.#closed !== null || this.#ending) {
      this.#report();
      return;
    }
    this.#cancelTimer = this.#options.clock.after(this.#options.closeTimeoutMs, () => this.#report());
    this.#receiver?.end();
  }

  #report(): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#cancelTimer?.();
    this.#receiver?.closed(this.#closed ?? undefined);
  }
}
