export {
  type Backoff,
  type BackoffDefaults,
  type BackoffOptions,
  backoffDelayMs,
  resolveBackoff,
  wait,
} from "./backoff.ts";
export { type Clock, isoTime, maxTimerMs, systemClock } from "./clock.ts";
export { Deadlines, type DeadlinesOptions, startDeadline } from "./deadline.ts";
export { type Settled, settleWithin, type WithinOptions, type Work, within } from "./within.ts";
