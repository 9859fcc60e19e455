import type { Clock } from "@harnesskit/wire";
import { type ContractCase, createManualClock } from "@harnesskit/wire/testing";
import type { TimelineLimits } from "../timeline/limits.ts";
import type { TimelineStore } from "../timeline/timeline-store.ts";
import { boundCases } from "./timeline-bound-cases.ts";
import type { Case } from "./timeline-case.ts";
import { readCases } from "./timeline-read-cases.ts";
import { storesCases } from "./timeline-stores-cases.ts";
import { writeCases } from "./timeline-write-cases.ts";

export interface TimelineSettings {
  readonly clock: Clock;
  readonly limits: Partial<TimelineLimits>;
}

/** A store that a case may do anything with. */
export interface OpenedTimelineStore {
  readonly store: TimelineStore;
  /** Opens the same storage once more; left out by a store that lives in one process. */
  readonly reopen?: () => TimelineStore | Promise<TimelineStore>;
  /** Removes what the store has kept. Called once after each case, also when it failed. */
  dispose(): void | Promise<void>;
}

export interface TimelineContractOptions {
  /** The store's name; it begins each case's name. */
  readonly name: string;
  /** Opens an empty store with these settings, for each case. */
  readonly open: (settings: TimelineSettings) => OpenedTimelineStore | Promise<OpenedTimelineStore>;
}

const runCase = async (open: TimelineContractOptions["open"], { limits = {}, run }: Case): Promise<void> => {
  const clock = createManualClock();
  const { store, reopen, dispose } = await open({ clock, limits });
  const opened = new Set([store]);
  try {
    await run({
      store,
      clock,
      hasOther: reopen !== undefined,
      async other() {
        const other = (await reopen?.()) ?? store;
        opened.add(other);
        return other;
      },
    });
  } finally {
    for (const each of opened) await each.close();
    await dispose();
  }
};

/** The cases that every {@link TimelineStore} passes. */
export const timelineStoreContract = ({ name, open }: TimelineContractOptions): ContractCase[] =>
  Object.entries({ ...writeCases, ...storesCases, ...readCases, ...boundCases }).map(([title, each]) => ({
    name: `${name}: ${title}`,
    run: () => runCase(open, each),
  }));
