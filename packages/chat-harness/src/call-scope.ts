import type { Clock } from "@harnesskit/wire";
import { ChatHarnessError } from "./chat-harness-error.ts";
import { demandDuration } from "./check-options.ts";

/** How long a caller waits for its turn. */
export interface CallOptions {
  /** Gives the turn up (`turn_cancelled`): it does not begin, or no further node of it does. @default never */
  readonly signal?: AbortSignal;
  /** Gives the turn up (`turn_timeout`), the time in the queue included. @default that of the harness */
  readonly timeoutMs?: number;
}

interface ScopeOptions {
  readonly turnTimeoutMs: number | undefined;
  readonly abandonAfterMs: number;
  readonly clock: Clock;
}

/** One call of a caller: until when it waits, and what is told once it does not any more. */
export class CallScope {
  readonly #controller = new AbortController();
  readonly #options: ScopeOptions;
  readonly #call: CallOptions;
  readonly #stops: (() => void)[] = [];
  #givenUp: ChatHarnessError | undefined;
  #tell: ((error: ChatHarnessError) => void) | undefined;

  /** Throws `invalid_argument` for a timeout that is none. */
  constructor(call: CallOptions, options: ScopeOptions) {
    this.#call = call;
    this.#options = options;
    const { signal, timeoutMs = options.turnTimeoutMs } = call;
    if (timeoutMs !== undefined) demandDuration(timeoutMs, "timeoutMs");
    if (signal?.aborted) {
      this.#cancel();
      return;
    }
    if (signal !== undefined) {
      const cancel = () => this.#cancel();
      signal.addEventListener("abort", cancel, { once: true });
      this.#stops.push(() => signal.removeEventListener("abort", cancel));
    }
    if (timeoutMs !== undefined) {
      this.#stops.push(options.clock.after(timeoutMs, () => this.#timeOut(timeoutMs), true));
    }
  }

  /** What the engine and its nodes are told by. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  #cancel(): void {
    const cause: unknown = this.#call.signal?.reason;
    this.giveUp(new ChatHarnessError("turn_cancelled", "the turn was cancelled by its caller", { cause }));
  }

  #timeOut(timeoutMs: number): void {
    this.giveUp(new ChatHarnessError("turn_timeout", `the turn took longer than ${timeoutMs} ms`));
  }

  giveUp(error: ChatHarnessError): void {
    if (this.#givenUp !== undefined) return;
    this.#givenUp = error;
    this.#controller.abort(error);
    this.#tell?.(error);
  }

  /** Throws why it was given up. */
  check(): void {
    if (this.#givenUp !== undefined) {
      this.end();
      throw this.#givenUp;
    }
  }

  /** Has a function called when it is given up; gives what takes that back. */
  onGivenUp(tell: (error: ChatHarnessError) => void): () => void {
    this.#tell = tell;
    return () => {
      this.#tell = undefined;
    };
  }

  /**
   * What a task gives. Once the call was given up, the task has `abandonAfterMs` to end: a task that ends well after all gives
   * what it gives, one that fails why it was given up, one that does not end `turn_abandoned`.
   */
  watch<T>(task: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const { clock, abandonAfterMs } = this.#options;
      let stopWaiting = () => {};
      const wait = (cause: ChatHarnessError) => {
        const abandon = () => {
          const message = `the turn does not end, and keeps its session: ${cause.message}`;
          reject(new ChatHarnessError("turn_abandoned", message, { cause }));
        };
        stopWaiting = clock.after(abandonAfterMs, abandon, true);
      };
      const stop = this.onGivenUp(wait);
      if (this.#givenUp !== undefined) wait(this.#givenUp);
      const settle = () => {
        stop();
        stopWaiting();
      };
      task.then(
        (value) => {
          settle();
          resolve(value);
        },
        (error: unknown) => {
          settle();
          reject(this.#givenUp ?? error);
        },
      );
    });
  }

  /** Stops listening. */
  end(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }
}
