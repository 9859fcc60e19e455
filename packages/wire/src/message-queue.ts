import { callSafely, isThenable } from "./call-safely.ts";
import type { ChannelHandlers } from "./channel.ts";
import { HarnessError } from "./errors.ts";

/** How long one connection's handlers may work before other connections have their turn. */
const turnMs = 10;

/** Settles in the next turn of the event loop, after what other connections have brought. */
const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    const { setImmediate = setTimeout } = globalThis as {
      readonly setImmediate?: (callback: () => void) => void;
    };
    setImmediate(resolve);
  });

/**
 * Delivers messages in order, one after the other. While a handler's promise is pending, and while others have their turn,
 * the source is paused, so that what waits here is never more than what one read brought.
 */
export class MessageQueue {
  #waiting: unknown[] = [];
  #next = 0;
  /** A handler's promise is pending. */
  #held = false;
  /** A handler is on the stack: what it brings in waits for its turn. */
  #delivering = false;
  #stopped = false;
  /** How long the handlers worked since others had their turn, and until when. */
  #workedMs = 0;
  #endedMs = 0;
  #onEmpty: (() => void) | undefined;

  constructor(
    readonly handlers: ChannelHandlers,
    readonly source: { pause(): void; resume(): void },
  ) {}

  push(messages: unknown[]): void {
    if (this.#stopped || messages.length === 0) return;
    if (this.#waiting.length === 0) this.#waiting = messages;
    else for (const message of messages) this.#waiting.push(message);
    if (!this.#held && !this.#delivering) this.#deliver();
  }

  /** Calls back once, when everything that was pushed has been handled. What the callback throws is reported. */
  whenEmpty(callback: () => void): void {
    this.#onEmpty = callback;
    if (!this.#held && this.#waiting.length === 0) this.#callBack();
  }

  /** Drops what waits and delivers nothing more. The source runs on, so that its end is still seen. */
  stop(): void {
    this.#stopped = true;
    this.#waiting = [];
    this.#next = 0;
    this.#onEmpty = undefined;
    if (!this.#held) return;
    this.#held = false;
    this.source.resume();
  }

  #deliver(): void {
    const nowMs = performance.now();
    // What others had since then is given back.
    let startedMs = nowMs - Math.max(0, this.#workedMs - (nowMs - this.#endedMs));
    let workedMs = nowMs - startedMs;
    let pending: PromiseLike<void> | undefined;
    this.#delivering = true;
    while (pending === undefined && this.#next < this.#waiting.length) {
      if (workedMs > turnMs) {
        pending = nextTurn();
        startedMs = performance.now();
        break;
      }
      pending = this.#handle(this.#waiting[this.#next++]);
      // Not after each message: to look at the time costs as much as a small one.
      if (this.#next % 4 === 0) workedMs = performance.now() - startedMs;
    }
    this.#delivering = false;
    this.#endedMs = performance.now();
    this.#workedMs = this.#endedMs - startedMs;
    if (pending !== undefined && !this.#stopped) {
      this.#hold(pending);
      return;
    }
    this.#waiting = [];
    this.#next = 0;
    this.#callBack();
  }

  #callBack(): void {
    const callback = this.#onEmpty;
    this.#onEmpty = undefined;
    try {
      callback?.();
    } catch (cause) {
      this.#report(cause);
    }
  }

  #handle(message: unknown): PromiseLike<void> | undefined {
    try {
      if (HarnessError.isInstance(message)) {
        this.handlers.error(message);
        return undefined;
      }
      const pending = this.handlers.message(message);
      return isThenable(pending) ? pending : undefined;
    } catch (cause) {
      this.#report(cause);
      return undefined;
    }
  }

  #hold(pending: PromiseLike<void>): void {
    this.#held = true;
    this.source.pause();
    const goOn = () => {
      if (this.#stopped) return;
      this.#held = false;
      this.#deliver();
      if (!this.#held) this.source.resume();
    };
    pending.then(goOn, (cause: unknown) => {
      this.#report(cause);
      goOn();
    });
  }

  #report(cause: unknown): void {
    // A failure of the error handler itself is dropped; delivery goes on.
    callSafely(() => this.handlers.error(new HarnessError("handler_failed", "a handler failed", { cause })));
  }
}
