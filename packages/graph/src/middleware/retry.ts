import { errorBucketOf } from "@harnesskit/protocol/chat/errors";
import {
  type BackoffOptions,
  backoffDelayMs,
  type Clock,
  checkNumber,
  resolveBackoff,
  systemClock,
  wait,
} from "@harnesskit/wire";
import { errorCategory } from "../errors.ts";
import type { MiddlewareOfAny } from "./final-errors.ts";
import { endsNode } from "./final-errors.ts";

export interface RetryOptions extends BackoffOptions {
  /** How often the node is called at most, the first call included; 1 or more. @default 3 */
  readonly maxAttempts?: number | undefined;
  /** The longest wait after the first attempt, in milliseconds. @default 1000 */
  readonly initialDelayMs?: number | undefined;
  /**
   * Whether to try again after an error; `attempt` is the number of the one that failed, the first being 1.
   * @default errors whose category is `retryable_transient`, or that have none
   */
  readonly retryOn?: ((error: unknown, attempt: number) => boolean) | undefined;
  /** Time. @default that of the system */
  readonly clock?: Clock | undefined;
}

const isTransient = (error: unknown): boolean =>
  errorBucketOf(errorCategory(error)) === "retryable_transient";

/**
 * Middleware that calls a node again when it fails (pipeline-utilities §6.1). Each attempt has its own events and `attemptIndex`.
 * Never tries again after a suspension or a cancellation; a cancellation ends its wait. When the last attempt fails, the node fails
 * with that error. Throws `invalid_argument` for options that cannot be used.
 */
export const retry = ({
  maxAttempts = 3,
  retryOn = isTransient,
  clock = systemClock,
  ...backoff
}: RetryOptions = {}): MiddlewareOfAny => {
  checkNumber("maxAttempts", maxAttempts);
  const delays = resolveBackoff(backoff, { maxAttempts, initialDelayMs: 1000 });
  return async (state, next, context) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await next(state);
      } catch (error) {
        if (attempt >= maxAttempts || endsNode(error, context) || !retryOn(error, attempt)) throw error;
      }
      await wait(backoffDelayMs(attempt, delays), clock, context.signal);
      context.signal.throwIfAborted();
    }
  };
};
