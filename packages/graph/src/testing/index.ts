export { graphStoreContract } from "./graph-store-contract.ts";
