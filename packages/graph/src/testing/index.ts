export type { ContractCase } from "@harnesskit/wire/testing";
export {
  type GraphStoreContractOptions,
  graphStoreContract,
  type OpenedStore,
} from "./graph-store-contract.ts";
export { type SessionSeed, seedSession } from "./seed-session.ts";
