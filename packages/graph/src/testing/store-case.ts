import type { GraphStore } from "../stores/graph-store.ts";

/** A store that a case may do anything with. */
export interface OpenedStore {
  readonly store: GraphStore;
  /**
   * Opens the same storage once more, as another process would; left out by a store that lives in one process. The cases close
   * what it gives.
   */
  readonly reopen?: () => GraphStore | Promise<GraphStore>;
  /** Removes what the store has kept. Called once after each case, also when it failed. */
  dispose(): void | Promise<void>;
}

/** What a case works with. */
export interface StoreContext {
  readonly store: GraphStore;
  /** Another store over the same storage, or the same one where there is none. */
  other(): Promise<GraphStore>;
}

/** A case before it is bound to a store. */
export interface StoreCase {
  readonly name: string;
  run(context: StoreContext): Promise<void>;
}
