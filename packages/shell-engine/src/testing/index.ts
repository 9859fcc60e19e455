export { continuationStoreContract } from "./continuation-store-contract.ts";
