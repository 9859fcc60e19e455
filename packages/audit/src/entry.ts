/** How an action ended: done, refused by a rule, failed, not ended in time, given up, or a limit was hit. */
export type AuditOutcome = "ok" | "refused" | "failed" | "timeout" | "cancelled" | "limited";

/** Who acted: a kind (`user`, `agent`, `core`, …) and its id. */
export interface AuditActor {
  readonly type: string;
  readonly id: string;
}

/**
 * Facts about an action, flat: counts, sizes, codes, names; never content. What is nested all the same is flattened to
 * keys with dots.
 */
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
