import type { StoredSuspension } from "@harnesskit/graph";
import { JsonValueSchema } from "@harnesskit/protocol/envelope";
import * as z from "zod";

/** What a harness stores with a pause, as the result of the record. */
const PauseNoteSchema = z.object({
  kind: z.literal("pause"),
  /** How many pauses the invocation has had, including this one. */
  pauses: z.int().positive(),
  memo: JsonValueSchema,
});
export type PauseNote = z.infer<typeof PauseNoteSchema>;

/** The note of a record; an empty one if it was paused without a harness. */
export const pauseNoteOf = ({ result }: Pick<StoredSuspension, "result">): PauseNote =>
  PauseNoteSchema.safeParse(result).data ?? { kind: "pause", pauses: 1, memo: null };

/** Identifies one pause of an invocation. */
export const pauseKeyOf = (
  record: Pick<StoredSuspension, "result" | "next_step" | "suspended_at" | "descriptor">,
): string =>
  [pauseNoteOf(record).pauses, record.next_step, record.suspended_at, record.descriptor.signal_id].join(" ");
