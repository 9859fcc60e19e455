import {
  type BytePipe,
  type ByteReceiver,
  type Clock,
  type HarnessError,
  TransportError,
} from "@harnesskit/wire";
import { WebSocketCloseError } from "../errors.ts";

/** The close codes of RFC 6455 that this package sends. */
export const closeCode = {
  normal: 1000,
  goingAway: 1001,
  unsupportedData: 1003,
  invalidData: 1007,
  policyViolation: 1008,
  messageTooBig: 1009,
  serverError: 1011,
} as const;

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

/** A connected WebSocket of any platform, as the pipe below a channel. A subclass delivers nothing before its first `resume`. */
export abstract class FramePipe implements BytePipe {
  readonly #options: FramePipeOptions;
  #receiver: ByteReceiver | undefined;
  #ending = false;
  /** What closed it; `null` for a close in good order. */
  #closed: HarnessError | null | undefined;
  #isReported = false;
  #cancelTimer: (() => void) | undefined;
  /** What an `end` tells the other side, where it is not that all is well, or that the connection is of no use any more. */
  closeCode: number | undefined;

  constructor(options: FramePipeOptions) {
    this.#options = options;
  }

  abstract pause(): void;
  abstract resume(): void;
  /** Sends each text as a frame; `done` is called once, when all were handed to the operating system or could not be. */
  protected abstract sendFrames(texts: readonly string[], done: (error?: Error | null) => void): void;
  /** Begins the closing handshake. Leads to `hasClosed`. */
  protected abstract closeSocket(code: number): void;
  /** Ends at once. */
  abstract terminate(): void;

  start(receiver: ByteReceiver): void {
    this.#receiver = receiver;
    if (this.#closed === undefined) this.resume();
    else this.#deliverClose();
  }

  write(data: Uint8Array | string, done: (error?: Error | null) => void): void {
    const lines = data as string;
    this.sendFrames(lines.slice(0, -1).split("\n"), done);
  }

  end(error?: HarnessError): void {
    this.#ending = true;
    const usual = error ? closeCode.serverError : closeCode.normal;
    if (this.#closed === undefined) this.closeSocket(this.closeCode ?? usual);
    else this.#report();
  }

  destroy(): void {
    this.#ending = true;
    this.terminate();
    this.finish(null);
  }

  /** One text frame arrived, whole. */
  protected deliver(frame: Uint8Array): void {
    this.#receiver?.bytes(frame);
  }

  /** It is closed: with the code and words of the close frame, or 1006 without one. */
  protected hasClosed(code: number, reason: string): void {
    this.finish(inGoodOrder.has(code) ? null : toCloseError(code, reason));
  }

  /** It is over: in good order (null), or because it broke a rule or could not go on. Ignored the second time. */
  protected finish(error: HarnessError | null): void {
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
