import type { Event } from "@harnesskit/protocol/threads";
import { createDeferred, type HarnessError } from "@harnesskit/wire";
import { type ThreadStore, ThreadStoreError } from "../../src/index.ts";
import { createMemoryThreadStore } from "../../src/memory-thread-store.ts";
import { overriding } from "./overriding.ts";

/** A store whose next `update` waits for `release`, once `hold` was called. */
export const heldUpdates = (inner: ThreadStore = createMemoryThreadStore()) => {
  const released = createDeferred<void>();
  let isHeld = false;
  const store = overriding(inner, {
    update: async (thread) => {
      if (isHeld) {
        isHeld = false;
        await released.promise;
      }
      await inner.update(thread);
    },
  });
  return {
    inner,
    store,
    hold: () => {
      isHeld = true;
    },
    release: () => released.resolve(),
  };
};

/** A store in memory that is full while `disk.full` is set: for all, or for the start of a turn. */
export const fillableStore = (
  onlyStarts = false,
  error: () => HarnessError = () => new ThreadStoreError("store_full", "The disk is full"),
) => {
  const disk = { full: false };
  const inner = createMemoryThreadStore();
  const store = overriding(inner, {
    append: async (id, events, options) => {
      if (disk.full && (!onlyStarts || events.some(({ type }) => type === "turn.started"))) throw error();
      await inner.append(id, events, options);
    },
  });
  return { disk, inner, store };
};

export const readAll = async (events: AsyncIterable<Event>): Promise<Event[]> => {
  const all: Event[] = [];
  for await (const event of events) all.push(event);
  return all;
};

/** What a killed server leaves: the store as it was, without the leases. */
export const leftOf = async (store: ThreadStore): Promise<ThreadStore> => {
  const copy = createMemoryThreadStore();
  for (const thread of await store.list()) {
    await copy.create(thread);
    const lease = await copy.lease(thread.threadId);
    await copy.append(thread.threadId, await readAll(store.events(thread.threadId)), { flush: true });
    await lease.release();
  }
  return copy;
};

const never = new Promise<never>(() => {});

/** A store whose process dies at the given append, before or after it is written: nothing is written from then on. */
export const dyingStore = (
  inner: ThreadStore,
  dies: (events: readonly Event[]) => "before" | "after" | undefined,
) => {
  const died = createDeferred<void>();
  let isDead = false;
  const unlessDead =
    <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
    (...args: A) =>
      isDead ? never : work(...args);
  const store = overriding(inner, {
    append: unlessDead(async (threadId, events, options) => {
      const when = dies(events);
      if (when !== "before") await inner.append(threadId, events, options);
      if (when === undefined) return;
      isDead = true;
      died.resolve();
      await never;
    }),
    update: unlessDead((thread) => inner.update(thread)),
    lease: unlessDead((threadId) => inner.lease(threadId)),
  });
  return { store, died: died.promise };
};
