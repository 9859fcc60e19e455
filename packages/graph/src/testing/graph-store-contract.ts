import type { GraphStore } from "../stores/graph-store.ts";
import { commitCases } from "./commit-cases.ts";
import { historyCases } from "./history-cases.ts";
import { sessionCases } from "./session-cases.ts";
import type { OpenedStore, StoreCase } from "./store-case.ts";
import { suspensionCases } from "./suspension-cases.ts";

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

const bind = ({ name, open }: GraphStoreContractOptions, entry: StoreCase): ContractCase => ({
  name: `${name}: ${entry.name}`,
  async run() {
    const opened = await open();
    const others: GraphStore[] = [];
    try {
      await entry.run({
        store: opened.store,
        async other() {
          if (opened.reopen === undefined) return opened.store;
          const other = await opened.reopen();
          others.push(other);
          return other;
        },
      });
    } finally {
      for (const other of others) await other.close();
      await opened.store.close();
      await opened.dispose();
    }
  },
});

/** The cases that every {@link GraphStore} passes: sessions and their history, suspensions, both at once, leases. */
export const graphStoreContract = (options: GraphStoreContractOptions): ContractCase[] =>
  [...sessionCases, ...historyCases, ...suspensionCases, ...commitCases].map((entry) => bind(options, entry));
