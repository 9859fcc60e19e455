export type { ContractCase } from "@harnesskit/wire/testing";
export {
  type OpenedRecords,
  type RecordStoreContractOptions,
  recordStoreContract,
} from "./record-store-contract.ts";
