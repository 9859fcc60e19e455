export { systemClock } from "@harnesskit/wire";
export { openApprovalStore, openSqliteStore } from "../src/index.ts";
export { StoreFile } from "../src/store-file.ts";
export { approvalSteps, fixedOptions } from "./support/approval-scenario.ts";
export { durableRun } from "./support/durable-run.ts";
export { added, pause, whole } from "./support/samples.ts";
