export type { ContractCase } from "@harnesskit/wire/testing";
export {
  type ContinuationStoreContractOptions,
  continuationStoreContract,
  type OpenedContinuationStore,
} from "./continuation-store-contract.ts";
