import { BufferFullError, defineLimits, type LimitsOf } from "@harnesskit/wire";
import { freezeJson } from "@harnesskit/wire/json";
import type { CoreGrant } from "./grant.ts";

/** What a store of grants takes at the most. */
export const grantLimits = defineLimits({
  /** Grants in one store. */
  maxRecords: 4096,
  /** Bytes of a store's file. */
  maxFileBytes: 4 * 1024 * 1024,
  /** How long a change waits for the lock of another process, in milliseconds. */
  lockTimeoutMs: 5000,
});

export type GrantLimits = LimitsOf<typeof grantLimits>;

/** What becomes of the grants of a store, and what the change returns. Without `items` nothing is written. */
export interface GrantEdit<Result> {
  readonly items?: readonly CoreGrant[] | undefined;
  readonly result: Result;
}

/** The operator's grants, which several cores and commands share. Contract: `grantStoreContract` of `@harnesskit/core-runtime/testing`. */
export interface GrantStore {
  /**
   * The grants now, frozen. The same array as before means that nothing has changed; a promise where they must be read.
   * Throws or rejects where they cannot be read.
   */
  list(): readonly CoreGrant[] | Promise<readonly CoreGrant[]>;
  /**
   * Changes the grants in one step: no other change comes between what `edit` receives and what it returns, and a change
   * that has resolved is seen by every later `list()` and is on disk. `edit` runs once, and what it throws rejects the
   * change, which then has not happened. Rejects with `buffer_full` beyond `maxRecords`.
   */
  change<Result>(edit: (items: readonly CoreGrant[]) => GrantEdit<Result>): Promise<Result>;
}

/** The grants as a store keeps them. Throws `buffer_full`. */
export const keptGrants = (items: readonly CoreGrant[], maxRecords: number): readonly CoreGrant[] => {
  if (items.length > maxRecords) throw new BufferFullError("maxRecords", maxRecords);
  return freezeJson(structuredClone(items));
};
