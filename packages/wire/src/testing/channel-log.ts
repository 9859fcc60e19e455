import type { ChannelHandlers, CloseReason } from "../channel.ts";
import type { HarnessError } from "../errors.ts";
import { settled } from "./contract-error.ts";

/** Handlers that write down what a channel reports, and let a test wait for it. */
export class ChannelLog {
  readonly messages: unknown[] = [];
  readonly errors: HarnessError[] = [];
  readonly closes: CloseReason[] = [];
  ends = 0;
  /** Things reported after the close handler. */
  afterClose = 0;
  /** Called with each message; what it returns or throws is what the channel gets. */
  onMessage: ((message: unknown) => void | Promise<void>) | undefined;
  readonly #keepOpenAtEnd: boolean;
  #wake: (() => void) | undefined;

  constructor(
    readonly timeoutMs: number,
    options: { keepOpenAtEnd?: boolean } = {},
  ) {
    this.#keepOpenAtEnd = options.keepOpenAtEnd ?? true;
  }

  /** What to hand to `Channel.start`. */
  handlers(): ChannelHandlers {
    return {
      message: (message) => this.message(message),
      error: (error) => this.error(error),
      ...(this.#keepOpenAtEnd && { end: () => this.end() }),
      close: (reason) => this.close(reason),
    };
  }

  message(message: unknown): void | Promise<void> {
    this.messages.push(message);
    this.#noted();
    return this.onMessage?.(message);
  }

  error(error: HarnessError): void {
    this.errors.push(error);
    this.#noted();
  }

  end(): void {
    this.ends++;
    this.#noted();
  }

  close(reason: CloseReason): void {
    this.closes.push(reason);
    this.#wake?.();
  }

  /** Waits until the condition holds; throws `contract_broken` when that takes too long. */
  async until(condition: () => boolean, what: string): Promise<void> {
    if (condition()) return;
    const held = new Promise<void>((resolve) => {
      this.#wake = () => {
        if (condition()) resolve();
      };
    });
    await settled(held, what, this.timeoutMs);
  }

  untilMessages(count: number): Promise<void> {
    return this.until(() => this.messages.length >= count, `waiting for ${count} messages`);
  }

  untilClosed(): Promise<void> {
    return this.until(() => this.closes.length > 0, "waiting for the close handler");
  }

  #noted(): void {
    if (this.closes.length > 0) this.afterClose++;
    this.#wake?.();
  }
}
