export {
  type OpenedRecords,
  type RecordContractCase,
  type RecordStoreContractOptions,
  recordStoreContract,
} from "./record-store-contract.ts";
