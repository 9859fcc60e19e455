import type { StoredSuspension } from "@harnesskit/graph";
import { JsonValueSchema } from "@harnesskit/protocol/envelope";
import * as z from "zod";

/** What a harness keeps with a pause, as the record's result. */
export const PauseNoteSchema = z.object({
  kind: z.literal("pause"),
  /** How many pauses the invocation has had, this one included. */
  pauses: z.int().positive(),
  memo: JsonValueSchema,
});
export type PauseNote = z.infer<typeof PauseNoteSchema>;

/** The note of a record; of one that was paused without a harness, an empty one. */
export const pauseNoteOf = ({ result }: Pick<StoredSuspension, "result">): PauseNote => {
  const parsed = PauseNoteSchema.safeParse(result);
  return parsed.success ? parsed.data : { kind: "pause", pauses: 1, memo: null };
};

/** Tells one pause of an invocation from the others. */
export const pauseKeyOf = (
  record: Pick<StoredSuspension, "result" | "next_step" | "suspended_at" | "descriptor">,
): string =>
  [pauseNoteOf(record).pauses, record.next_step, record.suspended_at, record.descriptor.signal_id].join(" ");
