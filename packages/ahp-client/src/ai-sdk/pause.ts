import type { Clock } from "@harnesskit/wire";

/** Waits. False when the signal aborted before the time was over. */
export const pause = (clock: Clock, delayMs: number, signal: AbortSignal | undefined): Promise<boolean> => {
  if (signal?.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const done = (isOver: boolean) => {
      cancel();
      signal?.removeEventListener("abort", onAbort);
      resolve(isOver);
    };
    const onAbort = () => done(false);
    const cancel = clock.after(delayMs, () => done(true));
    signal?.addEventListener("abort", onAbort, { once: true });
  });
};
