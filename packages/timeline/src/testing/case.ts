import type { ManualClock, StoreContext } from "@harnesskit/wire/testing";
import type { TimelineLimits } from "../limits.ts";
import type { TimelineStore } from "../timeline-store.ts";

/** What a case has. */
export interface Context extends StoreContext<TimelineStore> {
  readonly clock: ManualClock;
  /** Whether `other` is another store. */
  readonly hasOther: boolean;
}

/** One case: an empty store with these limits, and what is done with it. */
export interface Case {
  readonly limits?: Partial<TimelineLimits>;
  run(context: Context): Promise<void>;
}

export const idsOf = (rows: readonly { readonly id: number }[]) => rows.map(({ id }) => id);
