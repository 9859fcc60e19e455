import {
  type BackoffOptions,
  backoffDelayMs,
  type Channel,
  type Clock,
  callSafely,
  RequestCancelledError,
  resolveBackoff,
  systemClock,
  type Transport,
  wait,
} from "@harnesskit/wire";
import { failureKindOf } from "./errors.ts";
import { checkWithReconnectOptions } from "./option-names.ts";

export interface ReconnectingTransportOptions extends BackoffOptions {
  /** Attempts of one `connect`. @default Infinity */
  readonly maxAttempts?: number | undefined;
  /** The longest wait after the first attempt, in milliseconds. @default 200 */
  readonly initialDelayMs?: number | undefined;
  /** Called after each attempt that failed and before the wait. What it throws is ignored. @default none */
  readonly onRetry?: ((retry: { attempt: number; delayMs: number; error: unknown }) => void) | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}

/**
 * A transport whose `connect` tries again, with growing waits, while the server cannot be reached. What the server
 * refuses (`unauthorized`, `forbidden`, …) or answers in no known form is not tried again. Rejects with the last
 * error after `maxAttempts`, and with `request_cancelled` when the signal aborts. Throws `invalid_argument`.
 */
export const withReconnect = <Context>(
  transport: Transport<Context>,
  options: ReconnectingTransportOptions = {},
): Transport<Context> => {
  checkWithReconnectOptions(options);
  const { onRetry, clock = systemClock } = options;
  const backoff = resolveBackoff(options, { maxAttempts: Number.POSITIVE_INFINITY, initialDelayMs: 200 });
  return {
    async connect(call = {}): Promise<Channel<Context>> {
      const { signal } = call;
      for (let attempt = 1; ; attempt++) {
        if (signal?.aborted) throw new RequestCancelledError("connect", { cause: signal.reason });
        try {
          return await transport.connect(call);
        } catch (error) {
          const kind = failureKindOf(error);
          if ((kind !== "unavailable" && kind !== "timed_out") || attempt >= backoff.maxAttempts) throw error;
          const delayMs = backoffDelayMs(attempt, backoff);
          callSafely(() => onRetry?.({ attempt, delayMs, error }));
          await wait(delayMs, clock, signal);
        }
      }
    },
  };
};
