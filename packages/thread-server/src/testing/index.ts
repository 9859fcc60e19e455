export { threadStoreContract } from "./thread-store-contract.ts";
