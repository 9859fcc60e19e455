export { ContractError } from "./contract-error.ts";
export {
  type ContractCase,
  type GraphStoreContractOptions,
  graphStoreContract,
} from "./graph-store-contract.ts";
export { type SessionSeed, seedSession } from "./seed-session.ts";
export type { OpenedStore } from "./store-case.ts";
