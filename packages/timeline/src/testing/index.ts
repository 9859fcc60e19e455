export { sampleRow } from "./samples.ts";
export { timelineStoreContract } from "./timeline-store-contract.ts";
