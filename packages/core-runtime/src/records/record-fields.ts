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
