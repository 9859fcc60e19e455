export type { ContractCase } from "@harnesskit/wire/testing";
export { sampleRow } from "./samples.ts";
export {
  type OpenedTimelineStore,
  type TimelineContractOptions,
  type TimelineSettings,
  timelineStoreContract,
} from "./timeline-store-contract.ts";
