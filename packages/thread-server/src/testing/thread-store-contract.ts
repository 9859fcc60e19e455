import { type ContractCase, ContractError, type OpenedStore, runWithStore } from "@harnesskit/wire/testing";
import type { ThreadStore } from "../thread-store.ts";
import { besideCases } from "./store-cases-beside.ts";
import { eventCases } from "./store-cases-events.ts";
import { threadCases } from "./store-cases-threads.ts";

const cases = { ...threadCases, ...eventCases, ...besideCases };

/** The cases that every {@link ThreadStore} passes, wherever it keeps its threads. */
export const threadStoreContract = ({
  name,
  makeStore,
}: {
  /** The store's name; it begins each case's name. */
  readonly name: string;
  /** Makes a new, empty store for each case. Its `reopen` is called once the store is closed; one in memory may leave it out. */
  readonly makeStore: () => OpenedStore<ThreadStore> | Promise<OpenedStore<ThreadStore>>;
}): ContractCase[] =>
  Object.entries(cases).map(([title, run]) => ({
    name: `${name}: ${title}`,
    run: async () =>
      runWithStore(await makeStore(), async ({ store, other }) => {
        const reopen = async () => {
          await store.close();
          return other();
        };
        await run({ store, reopen }).catch((cause: unknown) => {
          if (cause instanceof ContractError) throw cause;
          throw new ContractError(`the store failed: ${(cause as Error).message}`, { cause });
        });
      }),
  }));
