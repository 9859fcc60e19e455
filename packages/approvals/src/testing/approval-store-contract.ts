import type { Clock } from "@harnesskit/wire";
import type { ContractCase, ManualClock } from "@harnesskit/wire/testing";
import { createManualClock } from "@harnesskit/wire/testing";
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
export interface OpenedApprovalStore {
  readonly store: ApprovalStore;
  /** Opens the same storage once more, as another process would; left out by a store that lives in one process. */
  readonly reopen?: () => ApprovalStore | Promise<ApprovalStore>;
  /** Removes what the store has kept. Called once after each case, also when it failed. */
  dispose(): void | Promise<void>;
}

export interface ApprovalStoreContractOptions {
  /** The store's name; it begins each case's name. */
  readonly name: string;
  /** Opens an empty store with these settings, for each case. */
  readonly open: (settings: StoreSettings) => OpenedApprovalStore | Promise<OpenedApprovalStore>;
}

/** What a case works with. */
export interface ApprovalContext {
  readonly store: ApprovalStore;
  /** Another store over the same storage, or the same one where the storage has only one. */
  other(): Promise<ApprovalStore>;
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
  const { store, reopen = () => store, dispose } = await open({ clock, limits });
  const opened = new Set([store]);
  try {
    await run({
      store,
      clock,
      async other() {
        const other = await reopen();
        opened.add(other);
        return other;
      },
    });
  } finally {
    for (const each of opened) await each.close();
    await dispose();
  }
};

/** The cases that every {@link ApprovalStore} passes: questions, answers, claims, grants, pages, watching and limits. */
export const approvalStoreContract = ({ name, open }: ApprovalStoreContractOptions): ContractCase[] =>
  Object.entries({ ...recordCases, ...grantCases, ...restoreCases, ...boundCases }).map(([title, each]) => ({
    name: `${name}: ${title}`,
    run: () => runCase(open, each),
  }));
