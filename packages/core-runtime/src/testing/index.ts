export { recordStoreContract } from "./record-store-contract.ts";
