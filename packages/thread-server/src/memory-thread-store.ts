import type { Event, Thread } from "@harnesskit/protocol/threads";
import { StoreError } from "./errors.ts";
import type { ReadEventsOptions, ThreadStore } from "./thread-store.ts";

interface Stored {
  thread: Thread;
  readonly events: Event[];
}

/** Keeps threads as long as the process lives. */
export const createMemoryThreadStore = (): ThreadStore => {
  const threads = new Map<string, Stored>();
  const leased = new Set<string>();
  const stored = (threadId: string): Stored => {
    const found = threads.get(threadId);
    if (!found) throw new StoreError("store_failed", "the thread is not stored");
    return found;
  };
  return {
    async create(thread) {
      threads.set(thread.threadId, { thread: structuredClone(thread), events: [] });
    },
    async update(thread) {
      stored(thread.threadId).thread = structuredClone(thread);
    },
    async get(threadId) {
      return structuredClone(threads.get(threadId)?.thread);
    },
    async list() {
      const all = [...threads.values()].map(({ thread }) => structuredClone(thread));
      return all.sort((a, b) => b.time.updated - a.time.updated);
    },
    async append(threadId, events) {
      stored(threadId).events.push(...structuredClone(events));
    },
    async *events(threadId, { afterSeq = 0, limit = Number.POSITIVE_INFINITY }: ReadEventsOptions = {}) {
      const { events } = stored(threadId);
      const end = Math.min(events.length, afterSeq + limit);
      for (let index = afterSeq; index < end; index++) {
        const event = events[index];
        if (event) yield structuredClone(event);
      }
    },
    async lease(threadId) {
      if (leased.has(threadId)) throw new StoreError("thread_locked", "another server writes this thread");
      leased.add(threadId);
      return { release: async () => void leased.delete(threadId) };
    },
    async close() {
      leased.clear();
    },
  };
};
