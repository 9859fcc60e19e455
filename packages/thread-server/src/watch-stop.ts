import { type Clock, createDeferred } from "@harnesskit/wire";

/** `overdue` settles so many milliseconds after the signal aborts, whether what it stops listens or not, until `end`. */
export const watchStop = (
  signal: AbortSignal,
  timeoutMs: number,
  clock: Clock,
): { readonly overdue: Promise<void>; end(): void } => {
  const overdue = createDeferred<void>();
  let stopTimer = () => {};
  const onAbort = () => {
    stopTimer = clock.after(timeoutMs, () => overdue.resolve());
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  const end = () => {
    signal.removeEventListener("abort", onAbort);
    stopTimer();
  };
  return { overdue: overdue.promise, end };
};
