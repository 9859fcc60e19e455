export type { ContractCase } from "@harnesskit/wire/testing";
export {
  type OpenedStateStore,
  type StateStoreContractOptions,
  stateStoreContract,
} from "./state-store-contract.ts";
