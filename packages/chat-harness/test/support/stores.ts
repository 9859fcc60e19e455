import { createMemoryStore, type GraphStore, type StoreBatch, StoreError } from "@harnesskit/graph";

/** What a store can be made to fail at. */
export type StoreCall =
  | "sessions.load"
  | "sessions.save"
  | "suspensions.load"
  | "suspensions.save"
  | "suspensions.list"
  | "leases.acquire"
  | "commit";

export interface WatchedStore extends GraphStore {
  /** What was called, in order; for `commit` with what it wrote. */
  readonly calls: string[];
  /** What fails now, with `store_failed`. */
  readonly failing: Set<StoreCall>;
}

const named = ({ session, suspension }: StoreBatch): string =>
  ["commit", ...(session ? ["session"] : []), ...(suspension ? [suspension.kind] : [])].join(" ");

/** A store in memory that tells what it is asked, and fails where it is told to. */
export const watchedStore = (inner: GraphStore = createMemoryStore()): WatchedStore => {
  const calls: string[] = [];
  const failing = new Set<StoreCall>();
  const call = async <T>(name: StoreCall, run: () => Promise<T>, label: string = name): Promise<T> => {
    calls.push(label);
    if (failing.has(name)) throw new StoreError("store_failed", `${name} failed as told`);
    return run();
  };
  return {
    calls,
    failing,
    sessions: {
      ...inner.sessions,
      load: (id) => call("sessions.load", () => inner.sessions.load(id)),
      save: (write) => call("sessions.save", () => inner.sessions.save(write)),
    },
    suspensions: {
      ...inner.suspensions,
      load: (id) => call("suspensions.load", () => inner.suspensions.load(id)),
      save: (write) => call("suspensions.save", () => inner.suspensions.save(write)),
      list: (filter) => call("suspensions.list", () => inner.suspensions.list(filter)),
    },
    runs: inner.runs,
    leases: { acquire: (key, options) => call("leases.acquire", () => inner.leases.acquire(key, options)) },
    commit: (batch) => call("commit", () => inner.commit(batch), named(batch)),
    close: () => inner.close(),
  };
};
