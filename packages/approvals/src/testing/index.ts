export { approvalStoreContract } from "./approval-store-contract.ts";
export { approveBy, sampleQuestion, takeBy } from "./samples.ts";
