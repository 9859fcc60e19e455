import type { Event, Grant, Thread } from "@harnesskit/protocol/threads";
import { BoundedMap } from "@harnesskit/wire";
import { ThreadStoreError } from "./errors.ts";
import { newestFirst } from "./thread-list.ts";
import {
  type ArtifactWriter,
  checkArtifactName,
  type KeptClaim,
  type ReadEventsOptions,
  type ThreadClaim,
  type ThreadStore,
} from "./thread-store.ts";

/** How many claims are remembered, and as many deleted threads. */
const maxRequests = 1000;

interface Stored {
  thread: Thread;
  readonly events: Event[];
}

const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Keeps threads as long as the process lives. What it gives and takes is not copied: leave it as it is. */
class MemoryThreadStore implements ThreadStore {
  readonly isPersistent = false;
  readonly #threads = new Map<string, Stored>();
  readonly #leased = new Map<string, object>();
  readonly #artifacts = new Map<string, Uint8Array>();
  readonly #grants = new Map<string, Grant>();
  readonly #claims = new BoundedMap<string, ThreadClaim>({ maxSize: maxRequests });
  readonly #deleted = new BoundedMap<string, true>({ maxSize: maxRequests });

  async create(thread: Thread): Promise<void> {
    const events = this.#threads.get(thread.threadId)?.events ?? [];
    this.#threads.set(thread.threadId, { thread, events });
  }

  async update(thread: Thread): Promise<void> {
    this.#stored(thread.threadId).thread = thread;
  }

  async get(threadId: string): Promise<Thread | undefined> {
    return this.#threads.get(threadId)?.thread;
  }

  async list(): Promise<Thread[]> {
    const all = [...this.#threads.values()].map(({ thread }) => thread);
    return all.sort(newestFirst);
  }

  async delete(threadId: string): Promise<void> {
    if (this.#stored(threadId).events.length > 0) this.#deleted.set(threadId, true);
    this.#threads.delete(threadId);
    this.#leased.delete(threadId);
    for (const path of this.#artifacts.keys())
      if (path.startsWith(`memory/${threadId}/`)) this.#artifacts.delete(path);
    for (const [grantId, grant] of this.#grants) {
      if (grant.scope === "thread" && grant.threadId === threadId) this.#grants.delete(grantId);
    }
  }

  async append(threadId: string, events: readonly Event[]): Promise<void> {
    const { events: stored } = this.#stored(threadId);
    for (const event of events) stored.push(event);
  }

  async *events(
    threadId: string,
    { afterSeq = 0, limit = Number.POSITIVE_INFINITY, types }: ReadEventsOptions = {},
  ): AsyncIterable<Event> {
    const { events } = this.#stored(threadId);
    const { length } = events;
    let left = limit;
    for (let index = afterSeq; index < length && left > 0; index++) {
      const event = events[index];
      if (!event || types?.includes(event.type) === false) continue;
      left--;
      yield event;
    }
  }

  async lastEvents(threadId: string, maxBytes: number): Promise<Event[]> {
    const { events } = this.#stored(threadId);
    let start = events.length;
    for (let bytes = 0; start > 0 && bytes < maxBytes; start--)
      bytes += JSON.stringify(events[start - 1]).length;
    return events.slice(start);
  }

  async lease(threadId: string) {
    this.#stored(threadId);
    if (this.#leased.has(threadId))
      throw new ThreadStoreError("thread_locked", "Another server writes this thread");
    const lease = {
      release: async () => {
        if (this.#leased.get(threadId) === lease) this.#leased.delete(threadId);
      },
    };
    this.#leased.set(threadId, lease);
    return lease;
  }

  async openArtifact(threadId: string, name: string): Promise<ArtifactWriter> {
    this.#stored(threadId);
    checkArtifactName(name);
    const path = `memory/${threadId}/${name}`;
    if (this.#artifacts.has(path)) throw new ThreadStoreError("store_failed", "The artifact exists already");
    this.#artifacts.set(path, new Uint8Array());
    const parts: (string | Uint8Array<ArrayBuffer>)[] = [];
    return {
      write: async (part) => {
        parts.push(typeof part === "string" ? part : Uint8Array.from(part));
      },
      close: async () => {
        const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
        this.#artifacts.set(path, bytes);
        const sha256 = toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
        return { path, sizeBytes: bytes.length, sha256 };
      },
    };
  }

  async *readArtifact(threadId: string, name: string) {
    const bytes = this.#artifacts.get(`memory/${threadId}/${name}`);
    if (bytes && bytes.length > 0) yield bytes;
  }

  async addGrant(grant: Grant): Promise<void> {
    this.#grants.set(grant.grantId, grant);
  }

  async removeGrant(grantId: string): Promise<boolean> {
    return this.#grants.delete(grantId);
  }

  async grants({ digest }: { digest?: string } = {}): Promise<Grant[]> {
    const all = [...this.#grants.values()];
    return digest === undefined ? all : all.filter((grant) => grant.digest === digest);
  }

  async claim(key: string, { threadId, requestDigest }: ThreadClaim): Promise<KeptClaim> {
    const kept = this.#claims.get(key) ?? { threadId, requestDigest };
    this.#claims.set(key, kept);
    return { ...kept, isDeleted: this.#deleted.get(kept.threadId) ?? false };
  }

  async close(): Promise<void> {
    this.#leased.clear();
  }

  #stored(threadId: string): Stored {
    const found = this.#threads.get(threadId);
    if (!found) throw new ThreadStoreError("store_failed", "The thread is not stored");
    return found;
  }
}

/** Makes a store in memory. */
export const createMemoryThreadStore = (): ThreadStore => new MemoryThreadStore();
