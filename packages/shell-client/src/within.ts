import type { Clock } from "@harnesskit/wire";
import type { CallScope } from "./call-scope.ts";
import { maxTimerMs } from "./limits.ts";

/** How something ended that had a time limit. */
export type Ended<T> =
  | { readonly how: "done"; readonly value: T }
  | { readonly how: "threw"; readonly cause: unknown }
  /** The time was over. */
  | { readonly how: "due" }
  /** The caller gave up. */
  | { readonly how: "aborted" };

export interface WithinOptions {
  readonly clock: Clock;
  /** In milliseconds since the epoch; may be infinite. */
  readonly dueAtMs: number;
  readonly scope: CallScope;
  /** Told that it ended when nobody waited for it any more. */
  readonly onLate?: () => void;
}

/**
 * Runs something that may throw, hang, or know nothing of signals, and keeps the process alive until it is over or given
 * up. Never rejects. What is given up is told by its signal and not waited for; what it does later changes nothing.
 */
export const within = <T>(
  run: (signal: AbortSignal) => T | Promise<T>,
  { clock, dueAtMs, scope, onLate }: WithinOptions,
): Promise<Ended<T>> =>
  new Promise((resolve) => {
    if (scope.aborted) return resolve({ how: "aborted" });
    if (clock.now() >= dueAtMs) return resolve({ how: "due" });
    const abort = new AbortController();
    let isOver = false;
    let cancelTimer = () => {};
    const end = (ended: Ended<T>): void => {
      if (isOver) {
        if (ended.how === "done") onLate?.();
        return;
      }
      isOver = true;
      cancelTimer();
      unlisten();
      resolve(ended);
      if (ended.how === "due" || ended.how === "aborted") abort.abort(scope.reason);
    };
    const unlisten = scope.listen(() => end({ how: "aborted" }));
    // A clock may call early where the wait is longer than its timers.
    const arm = (): void => {
      const leftMs = dueAtMs - clock.now();
      if (leftMs <= 0) end({ how: "due" });
      else cancelTimer = clock.after(Math.min(leftMs, maxTimerMs), arm, true);
    };
    arm();
    const settled = async () => run(abort.signal);
    settled().then(
      (value) => end({ how: "done", value }),
      (cause: unknown) => end({ how: "threw", cause }),
    );
  });
