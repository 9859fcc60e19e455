import type { StoredSession } from "./session-store.ts";

/** A session as it was last stored or read. */
export interface CachedSession {
  readonly record: StoredSession;
  /** Characters of its JSON. What a write has replaced is counted until the session is read again. */
  readonly length: number;
}

/** The memory that an entry needs beside its JSON, in characters. */
const baseLength = 1000;

const sessionSize = ({ record, length }: CachedSession): number =>
  baseLength + record.session_id.length + length;

/** The most recently used sessions, up to a limit of characters; for implementations of stores. */
export class SessionCache {
  readonly #maxLength: number;
  /** The most recently used at the end. */
  readonly #sessions = new Map<string, CachedSession>();
  #length = 0;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** The session in this version; undefined if it is not cached. */
  get(sessionId: string, version: number): CachedSession | undefined {
    const session = this.#sessions.get(sessionId);
    if (session?.record.version !== version) return undefined;
    this.#sessions.delete(sessionId);
    this.#sessions.set(sessionId, session);
    return session;
  }

  /** The session in the version that is cached; undefined if none is. */
  latest(sessionId: string): CachedSession | undefined {
    return this.#sessions.get(sessionId);
  }

  set(session: CachedSession): void {
    const sessionId = session.record.session_id;
    this.delete(sessionId);
    if (sessionSize(session) > this.#maxLength) return;
    this.#sessions.set(sessionId, session);
    this.#length += sessionSize(session);
    for (const oldest of this.#sessions.keys()) {
      if (this.#length <= this.#maxLength) break;
      this.delete(oldest);
    }
  }

  delete(sessionId: string): void {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return;
    this.#length -= sessionSize(session);
    this.#sessions.delete(sessionId);
  }
}
