import * as z from "zod";

const id = z.string().min(1);

/** What the log had to do to an entry: a secret was taken out, or something was cut. */
const AuditMarkSchema = z.enum(["redacted", "cut"]);

/** How an action ended: done, refused by a rule, failed, not ended in time, given up, or a limit was hit. */
export const AuditOutcomeSchema = z.enum(["ok", "refused", "failed", "timeout", "cancelled", "limited"]);
export type AuditOutcome = z.infer<typeof AuditOutcomeSchema>;

/** Who acted: a kind (`user`, `agent`, `core`, …) and its id. */
export interface AuditActor {
  readonly type: string;
  readonly id: string;
}

/** Facts about an action, flat: counts, sizes, codes, names; never content. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** What a caller records. Spelled as the runtime protocol spells it, here and in the file. */
export interface AuditEntryInput {
  /** What happened, in words with dots: `agent.launched`, `tool.call`. */
  readonly action: string;
  readonly outcome?: AuditOutcome | undefined;
  readonly actor?: AuditActor | undefined;
  readonly agent_id?: string | undefined;
  readonly tool_id?: string | undefined;
  readonly call_id?: string | undefined;
  readonly session_id?: string | undefined;
  readonly request_id?: string | undefined;
  readonly correlation_id?: string | undefined;
  readonly causation_id?: string | undefined;
  readonly duration_ms?: number | undefined;
  readonly details?: AuditDetails | undefined;
}

/**
 * One line of the log, parsed. `seq` counts from 1 without gaps over all files; `time` is RFC 3339 in UTC with
 * milliseconds and follows the system's clock, so that order is what `seq` says. `hash` is SHA-256 over the hash of the line
 * before and this line up to its own; entries in memory have none.
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
});
/** An entry as the log has it. */
export type AuditEntry = z.infer<typeof AuditEntrySchema>;
