import type { SessionRecord, SessionSummary } from "@harnesskit/protocol/chat";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { isList } from "../list.ts";
import { StoreError } from "./graph-store.ts";

/** A list field as it is stored: an array made by `toList`. */
export type StoredList = readonly JsonValue[];

/**
 * The fields of a state as stores keep them: JSON, deeply frozen, and growing lists as `toList` makes them. A store
 * may return a list as another array, which costs one more copy.
 */
export type StoredState = Readonly<Record<string, JsonValue | StoredList>>;

/** What is new in a list: its first `keep` items stay, everything behind them is replaced by `items`. */
export interface ListChange {
  /** At most as many items as are stored. */
  readonly keep: number;
  readonly items: readonly JsonValue[];
}

/** A session as a store returns it: the record with its lists. */
export interface StoredSession extends Omit<SessionRecord, "state"> {
  readonly state: StoredState;
}

/** What differs from the state that is stored with the version that a write names as its base. */
export interface SessionChanges {
  /** Values that are new or changed, other than lists. A list that was stored under the name is removed. */
  readonly fields: Readonly<Record<string, JsonValue>>;
  /** Lists that are new or changed. Another value that was stored under the name is removed. */
  readonly lists: Readonly<Record<string, ListChange>>;
  /** Fields that were stored and are not part of the state any more. */
  readonly removed: readonly string[];
}

/**
 * A state of a session to be stored, in two forms: whole, and as changes. A store that keeps a session in one piece uses
 * `state`. A store that keeps lists as rows applies `changes`, so that the cost of a write does not grow with history; it
 * may do so only if the stored version is `baseVersion`, and otherwise replaces everything by `state`.
 */
export interface SessionWrite {
  /** Not empty. */
  readonly sessionId: string;
  /** The version of the application's schema; the empty string for none. */
  readonly schemaVersion: string;
  readonly state: StoredState;
  /** The version of the session that `changes` are relative to; null: all of it is in `changes`. */
  readonly baseVersion: number | null;
  readonly changes: SessionChanges;
  /**
   * The version that must be stored, null for no session; otherwise the write is refused with
   * `session_write_conflict`. Left out: the last write wins.
   */
  readonly expectedVersion?: number | null | undefined;
}

/** The result of a write. */
export interface SessionReceipt {
  /** The version that is stored now. */
  readonly version: number;
}

/** Which sessions `list` returns. Without a field: all. */
export interface SessionFilter {
  /** Only sessions whose last write was before this time (RFC 3339, UTC). */
  readonly updatedBefore?: string | undefined;
}

/**
 * Where sessions are kept. Every method rejects with a {@link StoreError}, `store_failed` if the storage fails. A session id
 * is any string; an unknown one is a session that does not exist, never an error.
 */
export interface SessionStore {
  /** The session in the version that it was written in, or null. Later writes never change the result. */
  load(sessionId: string): Promise<StoredSession | null>;
  /**
   * Replaces the stored state, all or nothing, and settles when the state would survive the end of this process. The
   * version is greater than every earlier one of this store, including those of deleted sessions. `created_at` stays that
   * of the first write, `updated_at` is the time of this one. Rejects with `session_write_conflict` if
   * `expectedVersion` is not stored.
   */
  save(write: SessionWrite): Promise<SessionReceipt>;
  /**
   * The saved states, the latest first, which is what {@link load} returns. At most `limit`, and at most as many as the store
   * keeps; it may forget those before a list was cut or replaced. Empty for an unknown session.
   */
  history(sessionId: string, limit: number): Promise<StoredSession[]>;
  /** Removes a session and its history, and not its suspensions. Does nothing if the session does not exist. */
  delete(sessionId: string): Promise<void>;
  /** All sessions that match, without their state, the last written first. */
  list(filter?: SessionFilter): Promise<SessionSummary[]>;
}

/** Throws `session_write_conflict` if a write expects another version than the one that is stored; for implementations of stores. */
export const checkSessionWrite = ({ expectedVersion }: SessionWrite, stored: number | null): void => {
  if (expectedVersion === undefined || expectedVersion === stored) return;
  const message = `the session is at version ${stored}, not ${expectedVersion}`;
  throw new StoreError("session_write_conflict", message);
};

/** A whole state as changes of an empty one; for implementations of stores. */
export const wholeChanges = (state: StoredState): SessionChanges => {
  const fields: Record<string, JsonValue> = Object.create(null);
  const lists: Record<string, ListChange> = Object.create(null);
  for (const [name, value] of Object.entries(state)) {
    if (isList(value)) lists[name] = { keep: 0, items: value as StoredList };
    else fields[name] = value as JsonValue;
  }
  return { fields, lists, removed: [] };
};
