export {
  type Backoff,
  type BackoffDefaults,
  type BackoffOptions,
  backoffDelayMs,
  resolveBackoff,
  wait,
} from "./backoff.ts";
export { type Clock, isoTime, maxTimerMs, systemClock } from "./clock.ts";
export { type TimerEntry, TimerTable } from "./timer-table.ts";
export { type Settled, settleWithin, type WithinOptions, type Work, within } from "./within.ts";
