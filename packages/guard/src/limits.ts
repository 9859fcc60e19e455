import { defineLimits, type LimitsOf } from "@harnesskit/wire";

/** Bounds of a guard. */
export const guardLimits = defineLimits({
  /** Hooks that are answered at one time, those that wait for a human among them; one more is refused as "full". */
  maxHooks: 256,
  /** Sessions of agents whose directory and handshake are remembered; the oldest goes first. */
  maxSessions: 4096,
});
export type GuardLimits = LimitsOf<typeof guardLimits>;
