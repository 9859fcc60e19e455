import type { Event } from "@harnesskit/protocol/threads";
import { createDeferred } from "@harnesskit/wire";
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

/** A store that is full, while `fill(true)` holds, for the start of a turn. */
export const fullForStarts = () => {
  const inner = createMemoryThreadStore();
  let isFull = false;
  const store = overriding(inner, {
    append: async (id, events, options) => {
      if (isFull && events.some(({ type }) => type === "turn.started"))
        throw new ThreadStoreError("store_full", "full");
      await inner.append(id, events, options);
    },
  });
  return {
    store,
    fill: (full: boolean) => {
      isFull = full;
    },
  };
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
