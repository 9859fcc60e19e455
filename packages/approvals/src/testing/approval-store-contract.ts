import type { Clock } from "@harnesskit/wire";
import {
  type ContractCase,
  createManualClock,
  type ManualClock,
  type OpenedStore,
  runWithStore,
  type StoreContext,
} from "@harnesskit/wire/testing";
import type { ApprovalStore } from "../approval-store.ts";
import type { ApprovalLimits } from "../limits.ts";
import { boundCases } from "./bound-cases.ts";
import { grantCases } from "./grant-cases.ts";
import { recordCases } from "./record-cases.ts";
import { restoreCases } from "./restore-cases.ts";

export interface StoreSettings {
  readonly clock: Clock;
  readonly limits: Partial<ApprovalLimits>;
}

/** A store that a case may do anything with. */
export type OpenedApprovalStore = OpenedStore<ApprovalStore>;

export interface ApprovalStoreContractOptions {
  /** The store's name; it begins each case's name. */
  readonly name: string;
  /** Opens an empty store with these settings, for each case. */
  readonly open: (settings: StoreSettings) => OpenedApprovalStore | Promise<OpenedApprovalStore>;
}

/** What a case works with. */
export interface ApprovalContext extends StoreContext<ApprovalStore> {
  readonly clock: ManualClock;
}

export interface ApprovalCase {
  readonly limits?: Partial<ApprovalLimits>;
  run(context: ApprovalContext): Promise<void>;
}

const runCase = async (
  open: ApprovalStoreContractOptions["open"],
  { limits = {}, run }: ApprovalCase,
): Promise<void> => {
  const clock = createManualClock();
  const opened = await open({ clock, limits });
  await runWithStore(opened, (context) => run({ ...context, clock }));
};

/** The cases that every {@link ApprovalStore} passes: questions, answers, claims, grants, pages, watching and limits. */
export const approvalStoreContract = ({ name, open }: ApprovalStoreContractOptions): ContractCase[] =>
  Object.entries({ ...recordCases, ...grantCases, ...restoreCases, ...boundCases }).map(([title, each]) => ({
    name: `${name}: ${title}`,
    run: () => runCase(open, each),
  }));
