import type { Clock } from "@harnesskit/wire";
import {
  type ContractCase,
  createManualClock,
  type OpenedStore,
  runWithStore,
} from "@harnesskit/wire/testing";
import type { TimelineLimits } from "../limits.ts";
import type { TimelineStore } from "../timeline-store.ts";
import { boundCases } from "./bound-cases.ts";
import type { Case } from "./case.ts";
import { readCases } from "./read-cases.ts";
import { storesCases } from "./stores-cases.ts";
import { writeCases } from "./write-cases.ts";

export interface TimelineSettings {
  readonly clock: Clock;
  readonly limits: Partial<TimelineLimits>;
}

/** A store that a case may do anything with. */
export type OpenedTimelineStore = OpenedStore<TimelineStore>;

export interface TimelineContractOptions {
  /** The store's name; it begins each case's name. */
  readonly name: string;
  /** Opens an empty store with these settings, for each case. */
  readonly open: (settings: TimelineSettings) => OpenedTimelineStore | Promise<OpenedTimelineStore>;
}

const runCase = async (open: TimelineContractOptions["open"], { limits = {}, run }: Case): Promise<void> => {
  const clock = createManualClock();
  const opened = await open({ clock, limits });
  await runWithStore(opened, (context) => run({ ...context, clock, hasOther: opened.reopen !== undefined }));
};

/** The cases that every {@link TimelineStore} passes. */
export const timelineStoreContract = ({ name, open }: TimelineContractOptions): ContractCase[] =>
  Object.entries({ ...writeCases, ...storesCases, ...readCases, ...boundCases }).map(([title, each]) => ({
    name: `${name}: ${title}`,
    run: () => runCase(open, each),
  }));
