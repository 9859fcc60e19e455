import { type Clock, HarnessError } from "@harnesskit/wire";

/** What was waited for did not come in time. */
export class DeadlineError extends HarnessError {
  override readonly name = "DeadlineError";
  constructor(readonly timeoutMs: number) {
    super("deadline_passed", `it did not end within ${timeoutMs} ms`);
  }

  static override isInstance(value: unknown): value is DeadlineError {
    return HarnessError.isInstance(value) && value.name === "DeadlineError";
  }
}

export interface DeadlineOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/**
 * Waits for work no longer than allowed: rejects with a {@link DeadlineError}, or with the signal's reason, also when the
 * work does not listen to the signal that it is given.
 */
export const withDeadline = async <T>(
  { signal, timeoutMs, clock }: DeadlineOptions,
  work: (signal: AbortSignal) => PromiseLike<T>,
): Promise<T> => {
  signal.throwIfAborted();
  const own = new AbortController();
  const cancel = () => own.abort(signal.reason);
  signal.addEventListener("abort", cancel, { once: true });
  const stop = clock.after(timeoutMs, () => own.abort(new DeadlineError(timeoutMs)), true);
  const over = new Promise<never>((_, reject) => {
    own.signal.addEventListener("abort", () => reject(own.signal.reason), { once: true });
  });
  try {
    return await Promise.race([work(own.signal), over]);
  } finally {
    stop();
    signal.removeEventListener("abort", cancel);
  }
};
