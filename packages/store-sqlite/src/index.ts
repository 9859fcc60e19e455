export { StoreError } from "@harnesskit/graph";
export {
  openApprovalStore,
  type SqliteApprovalStoreLimits,
  type SqliteApprovalStoreOptions,
} from "./approval-store.ts";
export { checkSqliteStore } from "./check-sqlite-store.ts";
export {
  type ContinuationStoreLimits,
  type ContinuationStoreOptions,
  openContinuationStore,
  type SqliteContinuationStore,
} from "./continuation-store.ts";
export type { SqliteStoreReason } from "./failures.ts";
export { openSqliteStore } from "./open-sqlite-store.ts";
export type { SqliteStoreLimits, SqliteStoreOptions } from "./store-options.ts";
export {
  openTimelineReader,
  openTimelineStore,
  type SqliteTimelineStoreLimits,
  type SqliteTimelineStoreOptions,
} from "./timeline-store.ts";
