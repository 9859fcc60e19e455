export type { ContractCase } from "@harnesskit/wire/testing";
export {
  type ApprovalStoreContractOptions,
  approvalStoreContract,
  type OpenedApprovalStore,
  type StoreSettings,
} from "./approval-store-contract.ts";
export { approveBy, sampleQuestion, takeBy } from "./samples.ts";
