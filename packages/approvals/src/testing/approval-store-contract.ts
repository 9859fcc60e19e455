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

/** What a case works with. */
export interface ApprovalContext extends StoreContext<ApprovalStore> {
  readonly clock: ManualClock;
}

export interface ApprovalCase {
  readonly limits?: Partial<ApprovalLimits>;
  run(context: ApprovalContext): Promise<void>;
}

/**
 * The cases that every {@link ApprovalStore} passes: questions, answers, claims, grants, pages, watching and limits. `open` opens an
 * empty store with its settings for each, with which the case may do anything. Each case's name begins with `name`.
 */
export const approvalStoreContract = ({
  name,
  open,
}: {
  readonly name: string;
  readonly open: (settings: {
    readonly clock: Clock;
    readonly limits: Partial<ApprovalLimits>;
  }) => OpenedStore<ApprovalStore> | Promise<OpenedStore<ApprovalStore>>;
}): ContractCase[] =>
  Object.entries({ ...recordCases, ...grantCases, ...restoreCases, ...boundCases }).map(
    ([title, { limits = {}, run }]) => ({
      name: `${name}: ${title}`,
      async run() {
        const clock = createManualClock();
        await runWithStore(await open({ clock, limits }), (context) => run({ ...context, clock }));
      },
    }),
  );
