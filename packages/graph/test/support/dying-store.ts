import { createManualClock } from "@harnesskit/wire/testing";
import { createMemoryStore, type GraphStore, StoreError, type StoreReceipt } from "../../src/index.ts";
import type { StoreErrorCode } from "../../src/stores/graph-store.ts";

/** A storage that outlives its processes, each of which dies at one of its writes. */
export const createStorage = () => {
  const clock = createManualClock();
  const store = createMemoryStore({ clock });
  const died = () => Promise.reject(new StoreError("store_failed", "the process is dead"));
  return {
    store,
    clock,
    /**
     * What a new process sees of it, after the leases of those before have ended. Its write of this number is its last: `isApplied`
     * says whether the storage has it. Nothing is written or read after it.
     */
    process(dieAt: number = Number.POSITIVE_INFINITY, isApplied = false): GraphStore {
      clock.advance(60_000);
      let writes = 0;
      let isDead = false;
      const alive = <T>(call: () => Promise<T>): Promise<T> => (isDead ? died() : call());
      return {
        ...store,
        sessions: { ...store.sessions, load: (id) => alive(() => store.sessions.load(id)) },
        suspensions: { ...store.suspensions, load: (id) => alive(() => store.suspensions.load(id)) },
        runs: { ...store.runs, load: (id) => alive(() => store.runs.load(id)) },
        leases: {
          acquire: (key, options) =>
            alive(async () => {
              const lease = await store.leases.acquire(key, options);
              return {
                ...lease,
                renew: () => alive(() => lease.renew()),
                release: () => alive(() => lease.release()),
              };
            }),
        },
        commit: (batch): Promise<StoreReceipt> =>
          alive(async () => {
            const isLast = ++writes >= dieAt;
            if (isLast) isDead = true;
            if (!isLast) return store.commit(batch);
            if (isApplied) await store.commit(batch);
            return died();
          }),
      };
    },
    /** What a new process sees of a storage that refuses its first write of progress with this code. */
    refusing(code: StoreErrorCode): GraphStore {
      const own = this.process();
      let isRefused = false;
      return {
        ...own,
        async commit(batch) {
          if (isRefused || batch.run?.kind !== "append") return own.commit(batch);
          isRefused = true;
          throw new StoreError(code, "the progress is refused");
        },
      };
    },
  };
};
