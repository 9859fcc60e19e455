import { type ContractCase, type OpenedStore, runWithStore } from "@harnesskit/wire/testing";
import type { GraphStore } from "../stores/graph-store.ts";
import { commitCases } from "./commit-cases.ts";
import { historyCases } from "./history-cases.ts";
import { runCases } from "./run-cases.ts";
import { sessionCases } from "./session-cases.ts";
import { suspensionCases } from "./suspension-cases.ts";

export interface GraphStoreContractOptions {
  /** The store's name; it begins each case's name. */
  readonly name: string;
  /** Opens an empty store for each case. */
  readonly open: () => OpenedStore<GraphStore> | Promise<OpenedStore<GraphStore>>;
}

/** The cases that every {@link GraphStore} passes: sessions and their history, suspensions, both at once, leases. */
export const graphStoreContract = ({ name, open }: GraphStoreContractOptions): ContractCase[] =>
  Object.entries({ ...sessionCases, ...historyCases, ...suspensionCases, ...runCases, ...commitCases }).map(
    ([title, body]) => ({ name: `${name}: ${title}`, run: async () => runWithStore(await open(), body) }),
  );
