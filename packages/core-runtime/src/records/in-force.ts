/** A clock may be set back by so much without effect on what is in force. */
const toleranceMs = 60_000;

/**
 * Whether something that was given at a time holds now: not before it was given, so that a clock that is set back does not
 * bring back what has expired, and not from `until` on. A time that cannot be read never holds.
 */
export const isInForce = (since: string, until: string | undefined, now: number): boolean =>
  Date.parse(since) - toleranceMs <= now && (until === undefined || now < Date.parse(until));
