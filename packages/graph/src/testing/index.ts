export {
  type ContractCase,
  type GraphStoreContractOptions,
  graphStoreContract,
  type OpenedStore,
} from "./graph-store-contract.ts";
export { type SessionSeed, seedSession } from "./seed-session.ts";
