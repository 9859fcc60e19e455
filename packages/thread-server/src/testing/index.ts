export {
  type ContractStore,
  type StoreContractCase,
  type ThreadStoreContractOptions,
  threadStoreContract,
} from "./thread-store-contract.ts";
