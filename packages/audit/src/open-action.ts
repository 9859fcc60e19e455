import type { AuditActor, AuditDetails, AuditEntryInput, AuditOutcome } from "./entry.ts";
import type { AuditAction, AuditActionEnd } from "./sink.ts";

/**
 * An action that was begun, as the entry that it will leave: with its end where that comes before the beginning was
 * written, else a beginning, and an end with the same ids.
 */
export class OpenAction implements AuditAction, AuditEntryInput {
  action: string;
  outcome: AuditOutcome | undefined;
  readonly actor: AuditActor | undefined;
  readonly agent_id: string | undefined;
  readonly tool_id: string | undefined;
  readonly call_id: string | undefined;
  readonly session_id: string | undefined;
  readonly request_id: string | undefined;
  readonly correlation_id: string | undefined;
  readonly causation_id: string | undefined;
  duration_ms: number | undefined;
  details: AuditDetails | undefined;
  /** Milliseconds since 1970. */
  readonly begunAt: number;
  /** The beginning has, or needs, no entry of its own any more. */
  isTold = false;
  readonly #record: (entry: AuditEntryInput) => void;

  /** Throws what a getter of the entry throws. */
  constructor(entry: AuditEntryInput, begunAt: number, record: (entry: AuditEntryInput) => void) {
    const { actor } = entry;
    this.action = entry.action;
    this.outcome = entry.outcome;
    this.actor = actor && { type: actor.type, id: actor.id };
    this.agent_id = entry.agent_id;
    this.tool_id = entry.tool_id;
    this.call_id = entry.call_id;
    this.session_id = entry.session_id;
    this.request_id = entry.request_id;
    this.correlation_id = entry.correlation_id;
    this.causation_id = entry.causation_id;
    this.duration_ms = entry.duration_ms;
    this.details = entry.details && { ...entry.details };
    this.begunAt = begunAt;
    this.#record = record;
  }

  end(end: AuditActionEnd): void {
    try {
      const { action, outcome, duration_ms, details } = end;
      if (this.isTold) this.action = action;
      this.outcome = outcome;
      this.duration_ms = duration_ms;
      this.details = details;
    } catch {
      // An entry of its own, with a mark; the beginning stays one without an end.
      this.#record(end);
      return;
    }
    this.isTold = true;
    this.#record(this);
  }
}
