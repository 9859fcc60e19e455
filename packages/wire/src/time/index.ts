export { type Backoff, backoffDelayMs, resolveBackoff, wait } from "./backoff.ts";
export { type Clock, isoTime, maxTimerMs, systemClock } from "./clock.ts";
export { Deadlines, startDeadline } from "./deadline.ts";
export { settleWithin, within } from "./within.ts";
