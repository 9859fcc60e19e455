import type { StoredSession } from "@harnesskit/graph";

/** A session as it was stored or read last, and how long the text of each of its fields is. */
export interface CachedSession {
  readonly record: StoredSession;
  readonly lengths: ReadonlyMap<string, number>;
}

/** What an entry costs beside its text. */
const baseLength = 1000;

/** The sessions used last, up to a limit of characters. */
export class SessionCache {
  readonly #maxLength: number;
  /** The one used last at the end. */
  readonly #entries = new Map<string, { readonly session: CachedSession; readonly length: number }>();
  #length = 0;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** The session in this version; undefined where it is not known. */
  get(sessionId: string, version: number): CachedSession | undefined {
    const entry = this.#entries.get(sessionId);
    if (entry?.session.record.version !== version) return undefined;
    this.#entries.delete(sessionId);
    this.#entries.set(sessionId, entry);
    return entry.session;
  }

  set(session: CachedSession): void {
    const sessionId = session.record.session_id;
    this.delete(sessionId);
    let length = baseLength + sessionId.length;
    for (const [name, size] of session.lengths) length += name.length + size;
    if (length > this.#maxLength) return;
    this.#entries.set(sessionId, { session, length });
    this.#length += length;
    for (const oldest of this.#entries.keys()) {
      if (this.#length <= this.#maxLength) break;
      this.delete(oldest);
    }
  }

  delete(sessionId: string): void {
    this.#length -= this.#entries.get(sessionId)?.length ?? 0;
    this.#entries.delete(sessionId);
  }

  clear(): void {
    this.#entries.clear();
    this.#length = 0;
  }
}
