/** What events that nobody has read yet may use, for each turn and each `events()`. */
export interface BufferLimits {
  /**
   * Events that wait. Over it, neighbouring deltas of one item are merged, then deltas are dropped, then started and
   * completed items; an approval or the end of a turn only at twice the limit. @default 10000
   */
  readonly maxBufferedEvents: number;
  /** UTF-16 units of text in the deltas that wait; further deltas are dropped. @default 8388608 (8 Mi) */
  readonly maxBufferedDeltaChars: number;
}

export const defaultBufferLimits: BufferLimits = {
  maxBufferedEvents: 10_000,
  maxBufferedDeltaChars: 8 * 1024 * 1024,
};

/** Approvals whose callbacks run at the same time; one more is rejected. */
export const defaultMaxOpenApprovals = 256;
