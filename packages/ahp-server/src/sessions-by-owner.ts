import type { HandshakeParams } from "@harnesskit/protocol/ahp";
import type { Clock } from "@harnesskit/wire";
import { noPrincipalKey } from "@harnesskit/wire";

interface Entry {
  readonly handshake: HandshakeParams;
  usedAt: number;
}

const lastOf = <T>(values: Iterable<T>): T | undefined => {
  let last: T | undefined;
  for (const value of values) last = value;
  return last;
};

/** The sessions of one credential. */
class Sessions extends Map<string, Entry> {
  /** The session of the last handshake. */
  lastId = "";
}

/**
 * The handshakes of exchanges, by credential and session. A session without a handshake of its own goes by the last one of
 * its credential, or, where that is forgotten, by the one that was used last; without a credential by none. Both levels are in the order of their last use. When the
 * table is full, an owner that adds a session loses the oldest of its own, and only without one the table loses the
 * session that was not used for the longest time.
 */
export class SessionsByOwner {
  readonly #owners = new Map<string, Sessions>();
  readonly #clock: Clock;
  readonly #maxSessions: number;
  readonly #ttlMs: number;
  readonly #anySession: boolean;
  #size = 0;

  constructor(options: {
    readonly clock: Clock;
    readonly maxSessions: number;
    readonly ttlMs: number;
    /** Whether a session without a handshake of its own goes by another one of its credential. */
    readonly anySession: boolean;
  }) {
    this.#clock = options.clock;
    this.#maxSessions = options.maxSessions;
    this.#ttlMs = options.ttlMs;
    this.#anySession = options.anySession;
  }

  get size(): number {
    return this.#size;
  }

  get(owner: string, sessionId: string): HandshakeParams | undefined {
    const sessions = this.#owners.get(owner);
    if (!sessions) return undefined;
    const now = this.#clock.elapsedMs();
    let id = sessionId;
    let entry = this.#live(owner, sessions, id, now);
    if (!entry && this.#anySession && owner !== noPrincipalKey) {
      if (!this.#live(owner, sessions, sessions.lastId, now)) sessions.lastId = lastOf(sessions.keys()) ?? "";
      id = sessions.lastId;
      entry = this.#live(owner, sessions, id, now);
    }
    if (!entry) return undefined;
    this.#touch(owner, sessions, id, entry, now);
    return entry.handshake;
  }

  set(owner: string, handshake: HandshakeParams): void {
    const now = this.#clock.elapsedMs();
    this.#removeExpired(now);
    const { session_id: id } = handshake;
    const sessions = this.#owners.get(owner) ?? new Sessions();
    sessions.lastId = id;
    if (!sessions.has(id)) {
      if (this.#size >= this.#maxSessions) this.#makeRoom(owner, sessions);
      this.#owners.set(owner, sessions);
      this.#size++;
    }
    this.#touch(owner, sessions, id, { handshake, usedAt: now }, now);
  }

  /** The entry of a session; one that was not used for too long is removed. */
  #live(owner: string, sessions: Sessions, id: string, now: number): Entry | undefined {
    const entry = sessions.get(id);
    if (!entry || !this.#isExpired(entry, now)) return entry;
    this.#remove(owner, sessions, id);
    return undefined;
  }

  #isExpired({ usedAt }: Entry, now: number): boolean {
    return now - usedAt >= this.#ttlMs;
  }

  #touch(owner: string, sessions: Sessions, id: string, entry: Entry, now: number): void {
    // What was used within a part of its time keeps its place: the order is about age, and need not be exact.
    if (now - entry.usedAt < this.#ttlMs / 64 && sessions.get(id) === entry) return;
    entry.usedAt = now;
    sessions.delete(id);
    sessions.set(id, entry);
    this.#owners.delete(owner);
    this.#owners.set(owner, sessions);
  }

  #removeExpired(now: number): void {
    for (const [owner, sessions] of this.#owners) {
      for (const [id, entry] of sessions) {
        if (!this.#isExpired(entry, now)) break;
        this.#remove(owner, sessions, id);
      }
      if (sessions.size > 0) return;
    }
  }

  #makeRoom(owner: string, own: Sessions): void {
    if (own.size > 0) {
      this.#removeOldest(owner, own);
      return;
    }
    for (const [other, sessions] of this.#owners) {
      this.#removeOldest(other, sessions);
      return;
    }
  }

  #removeOldest(owner: string, sessions: Sessions): void {
    for (const id of sessions.keys()) {
      this.#remove(owner, sessions, id);
      return;
    }
  }

  #remove(owner: string, sessions: Sessions, id: string): void {
    if (!sessions.delete(id)) return;
    this.#size--;
    if (sessions.size === 0) this.#owners.delete(owner);
  }
}
