import type { Resolved } from "../define-options.ts";
import { InvalidArgumentError } from "../errors.ts";
import { sharedSignal } from "../shared-signal.ts";
import type { Clock } from "./clock.ts";

/** How long to wait between attempts: the wait doubles, and each is between half and all of its length. */
export interface BackoffOptions {
  /** Attempts in a row; Infinity for ever. */
  readonly maxAttempts?: number | undefined;
  /** The longest wait after the first attempt. */
  readonly initialDelayMs?: number | undefined;
  /** The longest wait of all. @default 30000 */
  readonly maxDelayMs?: number | undefined;
  /** A number from 0 up to 1. @default Math.random */
  readonly random?: (() => number) | undefined;
}

export type Backoff = Resolved<BackoffOptions>;

export interface BackoffDefaults {
  readonly maxAttempts: number;
  readonly initialDelayMs: number;
  /** Stands before the names of options in errors. @default nothing */
  readonly prefix?: string;
}

/** The policy with its defaults. Throws `invalid_argument`. */
export const resolveBackoff = (options: BackoffOptions, defaults: BackoffDefaults): Backoff => {
  const {
    maxAttempts = defaults.maxAttempts,
    initialDelayMs = defaults.initialDelayMs,
    maxDelayMs = 30_000,
    random = Math.random,
  } = options;
  const { prefix = "" } = defaults;
  if (!(maxAttempts >= 1)) throw new InvalidArgumentError(`${prefix}maxAttempts is at least 1`);
  if (!(initialDelayMs >= 0 && maxDelayMs >= initialDelayMs)) {
    throw new InvalidArgumentError(`${prefix}initialDelayMs is at least 0, and maxDelayMs no less`);
  }
  return { maxAttempts, initialDelayMs, maxDelayMs, random };
};

/** The wait that belongs to an attempt, the first being 1, in milliseconds. */
export const backoffDelayMs = (
  attempt: number,
  backoff: Pick<Backoff, "initialDelayMs" | "maxDelayMs"> & Pick<BackoffOptions, "random">,
): number => {
  const { initialDelayMs, maxDelayMs, random = Math.random } = backoff;
  const longest = Math.min(maxDelayMs, initialDelayMs * 2 ** Math.min(attempt - 1, 1000));
  return longest / 2 + (random() * longest) / 2;
};

/** Waits, and keeps the process alive meanwhile; settles early when the signal aborts. */
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
    const takeBack = clock.after(delayMs, done, true);
    if (signal) sharedSignal(signal).addEventListener("abort", done, { once: true });
  });
