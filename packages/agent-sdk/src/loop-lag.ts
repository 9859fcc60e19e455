import { performance } from "node:perf_hooks";

/** How late timers are because something keeps the thread busy. */
export interface LoopLag {
  /** The longest delay since it was last asked, in milliseconds. */
  take(): number;
  stop(): void;
}

export type MeasureLoopLag = () => LoopLag;

const everyMs = 50;

/**
 * Measures with a timer that keeps no process alive. Node's `monitorEventLoopDelay` forgets its last sample at a reset,
 * and with it a delay that begins right after a heartbeat.
 */
export const measureLoopLag: MeasureLoopLag = () => {
  let dueAt = performance.now() + everyMs;
  let longestMs = 0;
  const look = () => {
    const now = performance.now();
    longestMs = Math.max(longestMs, now - dueAt);
    dueAt = now + everyMs;
  };
  const timer = setInterval(look, everyMs);
  timer.unref();
  return {
    take() {
      const lateMs = Math.max(longestMs, performance.now() - dueAt);
      longestMs = 0;
      return Math.max(0, Math.round(lateMs));
    },
    stop: () => clearInterval(timer),
  };
};
