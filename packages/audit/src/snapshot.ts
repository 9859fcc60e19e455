import type { AuditEntryInput } from "./entry.ts";

const fields = [
  "action",
  "outcome",
  "agent_id",
  "tool_id",
  "call_id",
  "session_id",
  "request_id",
  "correlation_id",
  "causation_id",
  "duration_ms",
  "details",
] as const;

const read = (from: object, key: string): { value?: unknown; failed: boolean } => {
  try {
    return { value: (from as Record<string, unknown>)[key], failed: false };
  } catch {
    return { failed: true };
  }
};

/** What of an entry can be read at all, field by field: its getters may throw, and it may be no object. */
export const snapshotOf = (
  entry: unknown,
): { snapshot: AuditEntryInput; isUnreadable: boolean; isInvalid: boolean } => {
  const snapshot: Record<string, unknown> = {};
  if (typeof entry !== "object" || entry === null) {
    return { snapshot: snapshot as unknown as AuditEntryInput, isUnreadable: false, isInvalid: true };
  }
  let isUnreadable = false;
  for (const field of fields) {
    const { value, failed } = read(entry, field);
    isUnreadable ||= failed;
    if (value !== undefined) snapshot[field] = value;
  }
  const actor = read(entry, "actor");
  isUnreadable ||= actor.failed;
  if (typeof actor.value === "object" && actor.value !== null) {
    const type = read(actor.value, "type");
    const id = read(actor.value, "id");
    isUnreadable ||= type.failed || id.failed;
    snapshot.actor = { type: type.value, id: id.value };
  }
  return { snapshot: snapshot as unknown as AuditEntryInput, isUnreadable, isInvalid: false };
};
