/** A clock may be set back by so much without effect on what is in force. */
const toleranceMs = 60_000;

/** From when and until when something holds, in milliseconds since the epoch. */
export interface Period {
  readonly from: number;
  readonly until: number;
}

/**
 * What was given at a time holds from then on, so that a clock that is set back does not bring back what has expired, and
 * not from `until` on. A time that cannot be read never holds.
 */
export const periodOf = (since: string, until: string | undefined): Period => ({
  from: Date.parse(since) - toleranceMs,
  until: until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until),
});

export const isInPeriod = ({ from, until }: Period, now: number): boolean => from <= now && now < until;
