import type { GraphStore } from "../stores/graph-store.ts";
import { commitCases } from "./commit-cases.ts";
import { historyCases } from "./history-cases.ts";
import { runCases } from "./run-cases.ts";
import { sessionCases } from "./session-cases.ts";
import { suspensionCases } from "./suspension-cases.ts";

/** A store that a case may do anything with. */
export interface OpenedStore {
  readonly store: GraphStore;
  /**
   * Opens the same storage once more, as another process would; left out by a store that lives in one process. The cases close
   * what it returns.
   */
  readonly reopen?: () => GraphStore | Promise<GraphStore>;
  /** Removes what the store has kept. Called once after each case, also when it failed. */
  dispose(): void | Promise<void>;
}

export interface GraphStoreContractOptions {
  /** The store's name; it begins each case's name. */
  readonly name: string;
  /** Opens an empty store for each case. */
  readonly open: () => OpenedStore | Promise<OpenedStore>;
}

/** A named case for any test runner. */
export interface ContractCase {
  readonly name: string;
  /** Resolves when the contract is kept; rejects with `contract_broken` when it is not. */
  run(): Promise<void>;
}

/** What a case works with. */
export interface StoreContext {
  readonly store: GraphStore;
  /** Another store over the same storage, or the same one where the storage has only one. */
  other(): Promise<GraphStore>;
}

/** Cases by their names. */
export type StoreCases = Readonly<Record<string, (context: StoreContext) => Promise<void>>>;

const runCase = async (open: GraphStoreContractOptions["open"], body: StoreCases[string]): Promise<void> => {
  const { store, reopen = () => store, dispose } = await open();
  const opened = new Set([store]);
  try {
    await body({
      store,
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

/** The cases that every {@link GraphStore} passes: sessions and their history, suspensions, both at once, leases. */
export const graphStoreContract = ({ name, open }: GraphStoreContractOptions): ContractCase[] =>
  Object.entries({ ...sessionCases, ...historyCases, ...suspensionCases, ...runCases, ...commitCases }).map(
    ([title, body]) => ({ name: `${name}: ${title}`, run: () => runCase(open, body) }),
  );
