import { type Clock, RequestCancelledError, RequestTimeoutError } from "@harnesskit/wire";
import type { Ending } from "./ending.ts";
import { Stop } from "./stop.ts";

export interface WithinOptions<T> {
  readonly clock: Clock;
  /** What is waited for, for the error. */
  readonly name: string;
  readonly timeoutMs: number;
  /** Ends the wait: who waits gave up. */
  readonly signal?: AbortSignal | undefined;
  /** Ends it too: what is waited for cannot come any more. */
  readonly end?: Ending | undefined;
  /** Told of what came when nobody waited any more, to put it away. */
  readonly onLate?: (value: T) => void;
}

/**
 * Runs something that may not know deadlines, and keeps the process alive until it is settled. Rejects with `request_timeout` or `request_cancelled` when its time is over
 * or the signal aborts; what runs is told by its {@link Stop}, and not waited for.
 */
export const within = <T>(
  run: (stop: Stop) => Promise<T>,
  { clock, name, timeoutMs, signal, end, onLate }: WithinOptions<T>,
): Promise<T> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(new RequestCancelledError(name, { cause: signal.reason }));
    if (end?.isOver) return reject(new RequestCancelledError(name));
    const stop = new Stop();
    const deadline = clock.now() + timeoutMs;
    let cancelTimer = () => {};
    let isSettled = false;
    const settle = (): boolean => {
      if (isSettled) return false;
      isSettled = true;
      cancelTimer();
      signal?.removeEventListener("abort", onAbort);
      unlisten?.();
      return true;
    };
    const giveUp = (error: unknown) => {
      if (!settle()) return;
      reject(error);
      stop.stop(error);
    };
    const onAbort = () => giveUp(new RequestCancelledError(name, { cause: signal?.reason }));
    // A clock may call early where the wait is longer than its timers.
    const arm = (leftMs: number) => {
      cancelTimer = clock.after(
        leftMs,
        () => {
          const left = deadline - clock.now();
          if (left > 0) arm(left);
          else giveUp(new RequestTimeoutError(name, timeoutMs));
        },
        true,
      );
    };
    if (Number.isFinite(timeoutMs)) arm(timeoutMs);
    signal?.addEventListener("abort", onAbort, { once: true });
    const unlisten = end?.listen(() => giveUp(new RequestCancelledError(name)));
    run(stop).then(
      (value) => {
        if (settle()) resolve(value);
        else onLate?.(value);
      },
      (error: unknown) => giveUp(error),
    );
  });
