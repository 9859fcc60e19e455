export { ContractError } from "./contract-error.ts";
export {
  type ContractCase,
  type OpenedStateStore,
  type StateStoreContractOptions,
  stateStoreContract,
} from "./state-store-contract.ts";
