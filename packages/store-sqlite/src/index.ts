export { StoreError } from "@harnesskit/graph";
export {
  openApprovalStore,
  type SqliteApprovalStoreLimits,
  type SqliteApprovalStoreOptions,
} from "./approval-store.ts";
export { checkSqliteStore } from "./check-sqlite-store.ts";
export {
  type ContinuationClaim,
  type ContinuationStoreLimits,
  type ContinuationStoreOptions,
  continuationStoreLimits,
  openContinuationStore,
  type SqliteContinuationStore,
  type StoredContinuation,
} from "./continuation-store.ts";
export type { SqliteStoreReason } from "./failures.ts";
export { openSqliteStore } from "./open-sqlite-store.ts";
export {
  type SqliteStoreLimits,
  type SqliteStoreOptions,
  type SyncMode,
  sqliteStoreLimits,
} from "./store-options.ts";
export {
  openTimelineStore,
  type SqliteTimelineStoreLimits,
  type SqliteTimelineStoreOptions,
} from "./timeline-store.ts";
