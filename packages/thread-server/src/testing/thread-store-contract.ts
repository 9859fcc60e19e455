import { AssertionError } from "node:assert";
import { inspect } from "node:util";
import { type ContractCase, ContractError } from "@harnesskit/wire/testing";
import type { ThreadStore } from "../thread-store.ts";
import { besideCases } from "./store-cases-beside.ts";
import { eventCases } from "./store-cases-events.ts";
import { extensionCases } from "./store-cases-extensions.ts";
import { leaseCases } from "./store-cases-leases.ts";
import { threadCases } from "./store-cases-threads.ts";

/** A store that holds nothing yet, and what a case may do with it. */
export interface ContractStore {
  readonly store: ThreadStore;
  /**
   * Closes the store and gives one on the same storage, as the next server would open it. A store that lives in memory
   * may give itself.
   */
  reopen(): Promise<ThreadStore>;
  /** Removes what the store holds. Called once after each case, also when it failed. */
  dispose(): Promise<void>;
}

export interface ThreadStoreContractOptions {
  /** The store's name; it begins each case's name. */
  readonly name: string;
  /** Makes a new, empty store for each case. */
  readonly makeStore: () => ContractStore | Promise<ContractStore>;
  /** How many ask at once where only one may win. @default 50 */
  readonly contenders?: number | undefined;
}

/** The cases that every {@link ThreadStore} passes, wherever it keeps its threads. */
export const threadStoreContract = (options: ThreadStoreContractOptions): ContractCase[] => {
  const { name, makeStore, contenders = 50 } = options;
  const cases = { ...threadCases, ...eventCases, ...leaseCases, ...besideCases, ...extensionCases };
  return Object.entries(cases).map(([title, run]) => ({
    name: `${name}: ${title}`,
    async run() {
      const { store, reopen, dispose } = await makeStore();
      try {
        await run({ store, reopen, contenders });
      } catch (cause) {
        if (cause instanceof ContractError) throw cause;
        const { message } = cause as Error;
        if (!(cause instanceof AssertionError))
          throw new ContractError(`the store failed: ${message}`, { cause });
        const { operator, expected, actual } = cause;
        const difference = `: expected ${inspect(expected)}, got ${inspect(actual)}`;
        throw new ContractError(`${message}${operator === "deepStrictEqual" ? difference : ""}`, { cause });
      } finally {
        await dispose();
      }
    },
  }));
};
