import type { AuditEntryInput } from "./entry.ts";

/** How an action ended: the fields of its entry that were not known at its beginning. */
export type AuditActionEnd = Pick<AuditEntryInput, "action" | "outcome" | "duration_ms" | "details">;

/** An action in progress. */
export interface AuditAction {
  /**
   * Records the end, once. Where the beginning is not written yet, both are one entry: with the action and the ids of
   * the beginning and the outcome, duration and details of the end. Otherwise this is a second entry, with the end's own
   * action and the same ids. As cheap as `record`, and never throws.
   */
  end(end: AuditActionEnd): void;
}

/** Where a role records what it did. The file sink is in `@harnesskit/audit/node`. */
export interface AuditSink {
  /**
   * Takes an entry. Cheap, synchronous, and never throws, whatever the entry holds and whatever state the sink is in. What is recorded by
   * the reading of the entry, in a getter of it, comes behind it; by the reading of that, it is dropped and counted.
   */
  record(entry: AuditEntryInput): void;
  /**
   * Takes the beginning of an action that will end soon. A sink that has no such method gets a `record` for the beginning
   * and one for the end. As cheap as `record`, and never throws.
   */
  begin?(entry: AuditEntryInput): AuditAction;
  /** Resolves once everything recorded before is written. Rejects with an `AuditError` when it could not be. */
  flush(): Promise<void>;
  /** Flushes and ends the sink; may be called more than once. What is recorded afterwards is dropped and counted. */
  close(): Promise<void>;
  /**
   * A value that must never be written: a token that was just issued, a password that was just read. False where it is
   * not registered, because it has fewer than 4 or more than 16384 characters, or is one more than 10,000.
   */
  addSecret(value: string): boolean;
  /** Forgets a value of `addSecret`, once it opens nothing any more. */
  removeSecret(value: string): void;
}
