import type { AuditEntryInput } from "./entry.ts";

/** What of an entry can be read at all. */
export interface EntrySnapshot {
  readonly snapshot: AuditEntryInput;
  readonly isUnreadable: boolean;
  readonly isInvalid: boolean;
}

/** Reads each field of an entry once: its getters may throw, and it may not be an object. */
export const snapshotOf = (entry: unknown): EntrySnapshot => {
  let isUnreadable = false;
  const read = (from: object, key: string): never => {
    try {
      return (from as Record<string, unknown>)[key] as never;
    } catch {
      isUnreadable = true;
      return undefined as never;
    }
  };
  const isInvalid = typeof entry !== "object" || entry === null;
  const from = isInvalid ? {} : entry;
  const actor: unknown = read(from, "actor");
  const snapshot: AuditEntryInput = {
    action: read(from, "action"),
    outcome: read(from, "outcome"),
    actor:
      typeof actor === "object" && actor !== null
        ? { type: read(actor, "type"), id: read(actor, "id") }
        : undefined,
    agent_id: read(from, "agent_id"),
    tool_id: read(from, "tool_id"),
    call_id: read(from, "call_id"),
    session_id: read(from, "session_id"),
    request_id: read(from, "request_id"),
    correlation_id: read(from, "correlation_id"),
    causation_id: read(from, "causation_id"),
    duration_ms: read(from, "duration_ms"),
    details: read(from, "details"),
  };
  return { snapshot, isUnreadable, isInvalid };
};
