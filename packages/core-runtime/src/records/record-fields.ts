import { isRfc3339 } from "@harnesskit/protocol/envelope";
import * as z from "zod";

// The records are the operator's, not a message: unknown fields are refused, since to ignore one could widen what is allowed.

/** A point in time as in RFC 3339. */
export const TimeSchema = z.string().refine(isRfc3339, { error: "expected a time as in RFC 3339" });

/** An id, or the name of the person or program that did something. */
export const NameSchema = z.string().min(1).max(256);

/** Who calls, or is behind a call, as a grant or a directive names it. */
export const PartySchema = z.strictObject({
  type: z.enum(["human", "agent", "system"]),
  id: NameSchema,
});

/** A clock may be set back by so much without effect on what is in force. */
const toleranceMs = 60_000;

/** From when and until when something holds, in milliseconds since the epoch. */
export interface Period {
  readonly from: number;
  readonly until: number;
}

/**
 * What was given without an end always holds. With an end it holds from when it was given, so that a clock that is set back
 * does not bring back what has expired. A time that cannot be read never holds.
 */
export const toPeriod = (since: string, until: string | undefined): Period =>
  until === undefined
    ? { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY }
    : { from: Date.parse(since) - toleranceMs, until: Date.parse(until) };

export const isInPeriod = ({ from, until }: Period, now: number): boolean => from <= now && now < until;
