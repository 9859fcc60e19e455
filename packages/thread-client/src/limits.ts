import { defineLimits, type LimitsOf } from "@harnesskit/wire";

/** What one client may use at most. */
export const clientLimits = defineLimits({
  /**
   * Events that no loop has read yet, for each turn, each subscription and each `events()`. Over it,
   * deltas are dropped, then started and completed items; an approval or the end of a turn only at twice the limit.
   */
  maxBufferedEvents: 10_000,
  /** UTF-16 units of text in the deltas that wait; further deltas are dropped. */
  maxBufferedDeltaChars: 8 * 1024 * 1024,
  /** Approvals whose callbacks run at the same time; one more is rejected. */
  maxOpenApprovals: 256,
  /** Pages that one `getThread` or `listThreads` reads; what they return then says where the rest begins. */
  maxPages: 64,
});
export type ClientLimits = LimitsOf<typeof clientLimits>;
