export type { ContractCase } from "@harnesskit/wire/testing";
export {
  type ContractStore,
  type ThreadStoreContractOptions,
  threadStoreContract,
} from "./thread-store-contract.ts";
