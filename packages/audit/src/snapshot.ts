import type { AuditEntryInput } from "./entry.ts";

/** An entry whose fields were each read once: its getters may throw, and it may not be an object. */
export class EntrySnapshot implements AuditEntryInput {
  /** Asking for it has no effect on a hostile object, unlike `instanceof`. */
  readonly #brand = true;
  isUnreadable = false;
  readonly isInvalid: boolean;
  action: AuditEntryInput["action"];
  outcome: AuditEntryInput["outcome"];
  readonly actor: AuditEntryInput["actor"];
  readonly agent_id: string | undefined;
  readonly tool_id: string | undefined;
  readonly call_id: string | undefined;
  readonly session_id: string | undefined;
  readonly request_id: string | undefined;
  readonly correlation_id: string | undefined;
  readonly causation_id: string | undefined;
  duration_ms: number | undefined;
  details: AuditEntryInput["details"];

  constructor(entry: unknown) {
    this.isInvalid = typeof entry !== "object" || entry === null;
    const from = this.isInvalid ? {} : (entry as object);
    this.action = this.#read(from, "action");
    this.outcome = this.#read(from, "outcome");
    const actor: unknown = this.#read(from, "actor");
    this.actor =
      typeof actor === "object" && actor !== null
        ? { type: this.#read(actor, "type"), id: this.#read(actor, "id") }
        : undefined;
    this.agent_id = this.#read(from, "agent_id");
    this.tool_id = this.#read(from, "tool_id");
    this.call_id = this.#read(from, "call_id");
    this.session_id = this.#read(from, "session_id");
    this.request_id = this.#read(from, "request_id");
    this.correlation_id = this.#read(from, "correlation_id");
    this.causation_id = this.#read(from, "causation_id");
    this.duration_ms = this.#read(from, "duration_ms");
    this.details = this.#read(from, "details");
  }

  /** The snapshot of an entry, which may be one itself. */
  static of(entry: unknown): EntrySnapshot {
    const isSnapshot = typeof entry === "object" && entry !== null && #brand in entry;
    return isSnapshot ? entry : new EntrySnapshot(entry);
  }

  /** No caller changes the details from now on. What cannot be read of them is found when they are written. */
  ownDetails(): void {
    try {
      this.details &&= { ...this.details };
    } catch {
      // They are read again.
    }
  }

  #read(from: object, key: string): never {
    try {
      return (from as Record<string, unknown>)[key] as never;
    } catch {
      this.isUnreadable = true;
      return undefined as never;
    }
  }
}
