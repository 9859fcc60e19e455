import type { Clock } from "./clock.ts";

/** What a deadline counts at most of the time that the machine slept or the process was stopped. */
const maxPartMs = 10_000;
/** A timer that is later than this was slept through. */
const sleptMs = 1000;

/**
 * Calls `expired` once after `delayMs`, for what is given up then; Infinity never. Returns what takes it back. Some systems
 * count the time that the machine slept, and then call timers before the messages that arrived meanwhile: a part of the
 * time that was slept through is given again.
 */
export const startDeadline = (
  delayMs: number,
  expired: () => void,
  { clock, holdsProcess = false }: { readonly clock: Clock; readonly holdsProcess?: boolean },
): (() => void) => {
  if (delayMs === Number.POSITIVE_INFINITY) return () => {};
  let leftMs = delayMs;
  let isGivenAgain = false;
  const startPart = (): (() => void) => {
    const partMs = Math.min(leftMs, maxPartMs);
    const startedMs = clock.elapsedMs();
    return clock.after(
      partMs,
      () => {
        const passedMs = clock.elapsedMs() - startedMs;
        // Late twice in a row is a busy process, or a page in the background.
        isGivenAgain = !isGivenAgain && passedMs - partMs > sleptMs;
        if (!isGivenAgain) leftMs -= Math.max(partMs, passedMs);
        if (isGivenAgain || leftMs > 0) takeBack = startPart();
        else expired();
      },
      holdsProcess,
    );
  };
  let takeBack = startPart();
  return () => takeBack();
};
