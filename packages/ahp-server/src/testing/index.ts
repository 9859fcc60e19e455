export { stateStoreContract } from "./state-store-contract.ts";
