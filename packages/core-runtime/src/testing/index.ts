export { grantStoreContract } from "./grant-store-contract.ts";
