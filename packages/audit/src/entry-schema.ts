import * as z from "zod";

const id = z.string().min(1);

/** What the log had to do to an entry: a secret was taken out, something was cut, could not be read, or was no entry's. */
export const AuditMarkSchema = z.enum(["redacted", "cut", "unreadable", "invalid"]);
export type AuditMark = z.infer<typeof AuditMarkSchema>;

export const AuditOutcomeSchema = z.enum(["ok", "refused", "failed", "timeout", "cancelled", "limited"]);

/**
 * One line of the log, parsed. `seq` counts from 1 without gaps over all files; `time` is RFC 3339 in UTC with
 * milliseconds and follows the system's clock, so that order is what `seq` says. `check` is a checksum of the line; a
 * line with `hash` seals itself and all lines since the last hash.
 */
export const AuditEntrySchema = z.object({
  seq: z.number().int().positive(),
  time: z.iso.datetime({ precision: 3 }),
  action: z.string().regex(/^\w[\w-]*(?:\.[\w-]+)*$/),
  outcome: AuditOutcomeSchema.optional(),
  actor: z.object({ type: z.string(), id: z.string() }).optional(),
  agent_id: id.optional(),
  tool_id: id.optional(),
  call_id: id.optional(),
  session_id: id.optional(),
  request_id: id.optional(),
  correlation_id: id.optional(),
  causation_id: id.optional(),
  duration_ms: z.number().nonnegative().optional(),
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
  marks: z.array(AuditMarkSchema).optional(),
  hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  check: z
    .string()
    .regex(/^[0-9a-f]{8}$/)
    .optional(),
});
export type AuditEntry = z.infer<typeof AuditEntrySchema>;
