import { BufferFullError, defineLimits, type LimitsOf } from "@harnesskit/wire";
import { freezeJson } from "@harnesskit/wire/json";

/** What a store of records takes at the most. */
export const recordLimits = defineLimits({
  /** Records in one store. */
  maxRecords: 4096,
  /** Bytes of a store's file. */
  maxFileBytes: 4 * 1024 * 1024,
  /** How long a change waits for the lock of another process, in milliseconds. */
  lockTimeoutMs: 5000,
});

export type RecordLimits = LimitsOf<typeof recordLimits>;

/** What becomes of the records of a store, and what the change returns. Without `items` nothing is written. */
export interface RecordEdit<Item, Result> {
  readonly items?: readonly Item[] | undefined;
  readonly result: Result;
}

/**
 * Records that several cores and commands share: grants. Contract: `recordStoreContract` of
 * `@harnesskit/core-runtime/testing`.
 */
export interface RecordStore<Item> {
  /**
   * The records now, frozen. The same array as before means that nothing has changed; a promise where they must be read.
   * Throws or rejects where they cannot be read.
   */
  list(): readonly Item[] | Promise<readonly Item[]>;
  /**
   * Changes the records in one step: no other change comes between what `edit` receives and what it returns, and a change
   * that has resolved is seen by every later `list()` and is on disk. `edit` runs once, and what it throws rejects the
   * change, which then has not happened. Rejects with `buffer_full` beyond `maxRecords`.
   */
  change<Result>(edit: (items: readonly Item[]) => RecordEdit<Item, Result>): Promise<Result>;
}

/** The items as a store keeps them. Throws `buffer_full`. */
export const keptRecords = <Item>(items: readonly Item[], maxRecords: number): readonly Item[] => {
  if (items.length > maxRecords) throw new BufferFullError("maxRecords", maxRecords);
  return freezeJson(structuredClone(items));
};

/** A store that ends with the process. */
export const createMemoryRecords = <Item>(
  first: readonly Item[] = [],
  maxRecords: number = recordLimits.defaults.maxRecords,
): RecordStore<Item> => {
  let kept = keptRecords(first, maxRecords);
  return {
    list: () => kept,
    change: async (edit) => {
      const { items, result } = edit(kept);
      if (items) kept = keptRecords(items, maxRecords);
      return result;
    },
  };
};
