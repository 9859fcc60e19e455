import type { SessionRecord, SessionSummary } from "@harnesskit/protocol/chat";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import type { ListChange, StoredState } from "./stored-state.ts";

/** A session as a store gives it: the record, its lists shared. */
export interface StoredSession extends Omit<SessionRecord, "state"> {
  readonly state: StoredState;
}

/** What differs from the state that was stored with the version that a write names as its base. */
export interface SessionChanges {
  /** Fields that are no lists and are new or have another value. A list that was stored under the name is gone. */
  readonly fields: Readonly<Record<string, JsonValue>>;
  /** Lists that are new or differ. A value that was stored under the name and is no list is gone. */
  readonly lists: Readonly<Record<string, ListChange>>;
  /** Fields that were stored and are none any more. */
  readonly removed: readonly string[];
}

/**
 * A state of a session to be stored, twice: whole, and as what is new. A store that keeps a session in one piece takes
 * `state`. A store that keeps lists as rows applies `changes`, so that what it writes does not grow with history; it
 * may do so only where the version that is stored is `baseVersion`, and otherwise replaces everything by `state`.
 */
export interface SessionWrite {
  /** Not empty. */
  readonly sessionId: string;
  /** The version of the application's schema; the empty text where it gives none. */
  readonly schemaVersion: string;
  readonly state: StoredState;
  /** The version of the session that `changes` are relative to; null: all of it is in `changes`. */
  readonly baseVersion: number | null;
  readonly changes: SessionChanges;
  /**
   * The version that has to be the stored one, null for no session; otherwise the write is refused with
   * `session_write_conflict`. Left out: whoever writes last wins.
   */
  readonly expectedVersion?: number | null;
}

/** What became of a write. */
export interface SessionReceipt {
  /** The version of what is stored now. */
  readonly version: number;
}

export interface SessionFilter {
  /** Only sessions with this schema version. */
  readonly schemaVersion?: string;
  /** Only sessions that were written last before this time (RFC 3339, UTC). */
  readonly updatedBefore?: string;
}

/**
 * Where sessions are kept. Every method rejects with a {@link StoreError}, `store_failed` when the storage fails. A session
 * id is any text; an unknown one is a session that does not exist, never an error.
 */
export interface SessionStore {
  /** The session in the version that it was written in, or null. What it gives is never changed by later writes. */
  load(sessionId: string): Promise<StoredSession | null>;
  /**
   * Stores a state over what was there, all or nothing, and settles when it would survive the end of this process.
   * The version that it gives is greater than every one that this store has given before, also for sessions that
   * were deleted since. `created_at` stays that of the first write, `updated_at` is the time of this one.
   * Rejects with `session_write_conflict` where `expectedVersion` is not what is stored.
   */
  save(write: SessionWrite): Promise<SessionReceipt>;
  /**
   * The states that were saved, each as it was, the one saved last first: that is what {@link load} gives. At most `limit`, and
   * at most as many as the store keeps; it may forget those before a list was cut or replaced. Empty for an unknown session.
   */
  history(sessionId: string, limit: number): Promise<StoredSession[]>;
  /** Removes a session and its history. One that does not exist is removed already. Its suspensions stay. */
  delete(sessionId: string): Promise<void>;
  /** All sessions that fit, without their state, the one written last first. */
  list(filter?: SessionFilter): Promise<SessionSummary[]>;
}
