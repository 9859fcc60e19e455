import { RequestCancelledError, RequestTimeoutError } from "../errors.ts";
import { sharedSignal } from "../shared-signal.ts";
import { type Clock, systemClock } from "./clock.ts";
import { startDeadline } from "./deadline.ts";

export interface WithinOptions<T = unknown> {
  /** What is waited for, for errors: a method or an operation. */
  readonly name: string;
  /** How long, in milliseconds; Infinity without a limit. @default Infinity */
  readonly timeoutMs?: number | undefined;
  /** Aborts the wait. Several signals act as one. */
  readonly signal?: AbortSignal | readonly (AbortSignal | undefined)[] | undefined;
  /** @default the system's */
  readonly clock?: Clock | undefined;
  /** Whether the wait keeps the process alive. @default true */
  readonly holdsProcess?: boolean | undefined;
  /** Receives a value that came after the wait was over, to dispose of it. */
  readonly onLate?: ((value: T) => void) | undefined;
}

/** How a wait ended. */
export type Settled<T> =
  | { readonly status: "done"; readonly value: T }
  /** What the work threw or rejected with. */
  | { readonly status: "failed"; readonly error: unknown }
  | { readonly status: "timed_out"; readonly error: RequestTimeoutError }
  | { readonly status: "cancelled"; readonly error: RequestCancelledError };

/** A promise, or an operation that may throw, hang, or ignore its signal. */
export type Work<T> = PromiseLike<T> | ((signal: AbortSignal) => T | PromiseLike<T>);

const signalList = (signal: WithinOptions["signal"]): readonly AbortSignal[] => {
  if (signal === undefined) return [];
  return "aborted" in signal ? [signal] : signal.filter((each) => each !== undefined);
};

/**
 * Waits for work until it settles, its time is over or a signal aborts, and says which. Never rejects. Work that is given
 * up receives an abort on its own signal and is not waited for; what it does later changes nothing. An operation does not
 * start when the signal has aborted or there is no time.
 */
export const settleWithin = <T>(work: Work<T>, options: WithinOptions<T>): Promise<Settled<T>> =>
  new Promise((resolve) => {
    const { name, timeoutMs = Number.POSITIVE_INFINITY, clock = systemClock, holdsProcess = true } = options;
    const signals = signalList(options.signal);
    const abort = typeof work === "function" ? new AbortController() : undefined;
    let isOver = false;
    let cancelTimer = () => {};

    const settle = (settled: Settled<T>): void => {
      if (isOver) {
        if (settled.status === "done") options.onLate?.(settled.value);
        return;
      }
      isOver = true;
      cancelTimer();
      for (const signal of signals) signal.removeEventListener("abort", onAbort);
      resolve(settled);
      if (settled.status === "timed_out" || settled.status === "cancelled") abort?.abort(settled.error);
    };
    const onAbort = (): void => {
      const cause: unknown = signals.find((signal) => signal.aborted)?.reason;
      settle({ status: "cancelled", error: new RequestCancelledError(name, { cause }) });
    };
    const onTimeout = (): void =>
      settle({ status: "timed_out", error: new RequestTimeoutError(name, timeoutMs) });

    if (signals.some((signal) => signal.aborted)) onAbort();
    else if (!(timeoutMs > 0)) onTimeout();
    else cancelTimer = startDeadline(timeoutMs, onTimeout, { clock, holdsProcess });
    if (isOver && typeof work === "function") return;
    for (const signal of signals) sharedSignal(signal).addEventListener("abort", onAbort, { once: true });
    const run = async (): Promise<T> =>
      typeof work === "function" ? work((abort as AbortController).signal) : work;
    run().then(
      (value) => settle({ status: "done", value }),
      (error: unknown) => settle({ status: "failed", error }),
    );
  });

/**
 * The value of the work. Rejects with what the work rejects with, with `request_timeout` when its time is over, and with
 * `request_cancelled` when a signal aborts. See {@link settleWithin}.
 */
export const within = async <T>(work: Work<T>, options: WithinOptions<T>): Promise<T> => {
  const settled = await settleWithin(work, options);
  if (settled.status === "done") return settled.value;
  throw settled.error;
};
