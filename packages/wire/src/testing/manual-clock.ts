import type { Clock } from "../time/clock.ts";

/** A clock that only its owner moves. */
export interface ManualClock extends Clock {
  /** Timers that wait. */
  readonly pending: number;
  /** Moves the time on, and calls back what falls due on the way, in the order of its time. */
  advance(byMs: number): void;
  /** Sets `now()` forward or back, as a correction of the system's clock does. Waits and timers do not notice. */
  correct(byMs: number): void;
}

interface Timer {
  readonly dueAt: number;
  readonly callback: () => void;
}

/**
 * Makes a clock for tests. A timer that a callback sets still fires in the same `advance` if it falls due in it.
 * A callback that throws ends the `advance`; what is due after it stays.
 */
export const createManualClock = (startMs = 1_700_000_000_000): ManualClock => {
  const timers = new Set<Timer>();
  let nowMs = 0;
  let epochMs = startMs;

  const nextDueBy = (limitMs: number): Timer | undefined => {
    let next: Timer | undefined;
    for (const timer of timers) {
      if (timer.dueAt <= limitMs && (next === undefined || timer.dueAt < next.dueAt)) next = timer;
    }
    return next;
  };

  return {
    now: () => epochMs + nowMs,
    elapsedMs: () => nowMs,
    after(delayMs, callback) {
      const timer = { dueAt: nowMs + Math.max(0, delayMs), callback };
      timers.add(timer);
      return () => {
        timers.delete(timer);
      };
    },
    get pending() {
      return timers.size;
    },
    advance(byMs) {
      const untilMs = nowMs + byMs;
      for (let timer = nextDueBy(untilMs); timer; timer = nextDueBy(untilMs)) {
        timers.delete(timer);
        nowMs = Math.max(nowMs, timer.dueAt);
        timer.callback();
      }
      nowMs = untilMs;
    },
    correct(byMs) {
      epochMs += byMs;
    },
  };
};
