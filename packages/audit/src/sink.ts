import type { AuditEntryInput } from "./entry.ts";

/** Where a role records what it did. The file sink is in `@harnesskit/audit/node`. */
export interface AuditSink {
  /** Takes an entry. Cheap, synchronous, and never throws, whatever state the sink is in. */
  record(entry: AuditEntryInput): void;
  /**
   * True while entries cannot be kept, as on a full disk: what must be on record is refused until they can. A sink that always keeps
   * them may leave it out.
   */
  readonly isFull?: boolean | undefined;
  /** Resolves once everything recorded before is written. Rejects with an `AuditError` when it could not be. */
  flush(): Promise<void>;
  /** Flushes and ends the sink; may be called more than once. What is recorded afterwards is dropped and counted. */
  close(): Promise<void>;
  /**
   * A value that must never be written: a token that was just issued, a password that was just read. False where it is
   * not registered, because it has fewer than 4 or more than 16384 characters, or is one more than 1000.
   */
  addSecret(value: string): boolean;
  /** Forgets a value of `addSecret`, once it opens nothing any more. */
  removeSecret(value: string): void;
}
