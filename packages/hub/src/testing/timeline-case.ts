import { jsonDifference } from "@harnesskit/wire";
import { ContractError, type ManualClock } from "@harnesskit/wire/testing";
import type { TimelineLimits } from "../timeline/limits.ts";
import type { TimelineStore } from "../timeline/timeline-store.ts";

/** What a case has. */
export interface Context {
  readonly store: TimelineStore;
  readonly clock: ManualClock;
  /** The same storage, opened once more; the same store where there is no other. */
  other(): Promise<TimelineStore>;
  /** Whether `other` is another store. */
  readonly hasOther: boolean;
}

/** One case: an empty store with these limits, and what is done with it. */
export interface Case {
  readonly limits?: Partial<TimelineLimits>;
  run(context: Context): Promise<void>;
}

/** Throws `contract_broken` unless both are the same JSON. */
export const equal = (actual: unknown, expected: unknown, what: string): void => {
  const difference = jsonDifference(expected ?? null, actual ?? null);
  if (difference === undefined) return;
  const [wanted, got] = [expected, actual].map((value) => JSON.stringify(value ?? null).slice(0, 300));
  throw new ContractError(`${what}: expected ${wanted}, got ${got}, at "${difference.path}"`);
};

export const idsOf = (rows: readonly { readonly id: number }[]) => rows.map(({ id }) => id);
