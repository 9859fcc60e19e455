export { graphStoreContract } from "./graph-store-contract.ts";
export { seedSession } from "./seed-session.ts";
