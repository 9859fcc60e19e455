import type { ChannelHandlers } from "./channel.ts";
import { HarnessError, TransportError } from "./errors.ts";

/**
 * Delivers messages in order, one after the other. While a handler's promise is pending the source is paused, so that
 * what waits here is never more than what one read brought.
 */
export class MessageQueue {
  #waiting: unknown[] = [];
  #next = 0;
  #held = false;
  #stopped = false;
  #onEmpty: (() => void) | undefined;

  constructor(
    readonly handlers: ChannelHandlers,
    readonly source: { pause(): void; resume(): void },
  ) {}

  push(messages: unknown[]): void {
    if (this.#stopped || messages.length === 0) return;
    if (this.#waiting.length === 0) this.#waiting = messages;
    else for (const message of messages) this.#waiting.push(message);
    if (!this.#held) this.#deliver();
  }

  /** Calls back once, when everything that was pushed has been handled. */
  whenEmpty(callback: () => void): void {
    if (!this.#held && this.#waiting.length === 0) callback();
    else this.#onEmpty = callback;
  }

  /** Drops what waits and delivers nothing more. */
  stop(): void {
    this.#stopped = true;
    this.#waiting = [];
    this.#next = 0;
    this.#onEmpty = undefined;
  }

  #deliver(): void {
    while (this.#next < this.#waiting.length) {
      const pending = this.#handle(this.#waiting[this.#next++]);
      if (pending !== undefined) {
        this.#hold(pending);
        return;
      }
    }
    this.#waiting = [];
    this.#next = 0;
    const callback = this.#onEmpty;
    this.#onEmpty = undefined;
    callback?.();
  }

  #handle(message: unknown): Promise<void> | undefined {
    try {
      if (HarnessError.isInstance(message)) {
        this.handlers.error(message);
        return undefined;
      }
      return this.handlers.message(message) ?? undefined;
    } catch (cause) {
      this.#report(cause);
      return undefined;
    }
  }

  #hold(pending: Promise<void>): void {
    this.#held = true;
    this.source.pause();
    const goOn = () => {
      this.#held = false;
      if (this.#stopped) return;
      this.#deliver();
      if (!this.#held) this.source.resume();
    };
    pending.then(goOn, (cause: unknown) => {
      this.#report(cause);
      goOn();
    });
  }

  #report(cause: unknown): void {
    try {
      this.handlers.error(new TransportError("a message handler failed", { cause }));
    } catch {
      // An error handler that throws has nobody to be reported to; delivery goes on.
    }
  }
}
