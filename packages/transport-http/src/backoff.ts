import { type Clock, InvalidArgumentError } from "@harnesskit/wire";

/** How long to wait between attempts: the wait doubles, and each is between half and all of its length. */
export interface BackoffOptions {
  /** Attempts in all; Infinity for ever. */
  readonly maxAttempts?: number;
  /** The longest wait after the first attempt. @default 200 */
  readonly initialDelayMs?: number;
  /** @default 30000 */
  readonly maxDelayMs?: number;
  /** A number from 0 up to 1. @default Math.random */
  readonly random?: () => number;
}

export type Backoff = Required<BackoffOptions>;

/** The policy with its defaults. Throws `invalid_argument`. */
export const resolveBackoff = (options: BackoffOptions, maxAttemptsDefault: number): Backoff => {
  const {
    maxAttempts = maxAttemptsDefault,
    initialDelayMs = 200,
    maxDelayMs = 30_000,
    random = Math.random,
  } = options;
  if (!(maxAttempts >= 1)) throw new InvalidArgumentError("maxAttempts is at least 1");
  if (!(initialDelayMs >= 0 && maxDelayMs >= initialDelayMs)) {
    throw new InvalidArgumentError("initialDelayMs is at least 0, and maxDelayMs no less");
  }
  return { maxAttempts, initialDelayMs, maxDelayMs, random };
};

/** How long to wait after an attempt, the first being 1. */
export const delayAfterMs = (attempt: number, { initialDelayMs, maxDelayMs, random }: Backoff): number => {
  const longest = Math.min(maxDelayMs, initialDelayMs * 2 ** Math.min(attempt - 1, 1000));
  return longest / 2 + (random() * longest) / 2;
};

/** Waits; settles early when the signal aborts. */
export const wait = (delayMs: number, clock: Clock, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const done = () => {
      takeBack();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const takeBack = clock.after(delayMs, done);
    signal?.addEventListener("abort", done, { once: true });
  });
