import type { Clock } from "@harnesskit/wire";

/** The time of one call, and its signal, which is made when somebody wants it. */
export class RunningCall {
  readonly dueAtMs: number;
  readonly #outer: () => AbortSignal | undefined;
  #controller: AbortController | undefined;
  #reason: unknown;
  #isOver = false;
  #stopListening: (() => void) | undefined;

  /** `outer` gives a signal that ends the call too. */
  constructor(clock: Clock, timeoutMs: number, outer: () => AbortSignal | undefined) {
    this.dueAtMs = clock.now() + timeoutMs;
    this.#outer = outer;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = new AbortController();
      this.#controller = controller;
      if (this.#reason !== undefined) controller.abort(this.#reason);
      const outer = this.#isOver ? undefined : this.#outer();
      if (outer?.aborted) controller.abort(outer.reason);
      else if (outer) {
        const end = () => controller.abort(outer.reason);
        outer.addEventListener("abort", end, { once: true });
        this.#stopListening = () => outer.removeEventListener("abort", end);
      }
    }
    return this.#controller.signal;
  }

  /** Nobody waits any more. */
  abort(reason: unknown): void {
    this.#reason ??= reason;
    this.#controller?.abort(reason);
    this.#stopListening?.();
  }

  /** Its work is done: a signal that outlives it is not listened to any more. */
  end(): void {
    this.#isOver = true;
    this.#stopListening?.();
  }
}

/** The signal of a transport's context. */
export const signalOf = (context: unknown): AbortSignal | undefined => {
  if (typeof context !== "object" || context === null) return undefined;
  const { signal } = context as { signal?: unknown };
  return signal instanceof AbortSignal ? signal : undefined;
};

/** The value of a promise that never rejects, or of `late` after the time. */
export const inTime = <T>(pending: Promise<T>, timeoutMs: number, clock: Clock, late: () => T): Promise<T> =>
  new Promise((resolve) => {
    const takeBack = clock.after(timeoutMs, () => resolve(late()));
    void pending.then((value) => {
      takeBack();
      resolve(value);
    });
  });
