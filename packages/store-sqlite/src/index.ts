export {
  type ContinuationStoreOptions,
  openContinuationStore,
  type SqliteContinuationStore,
} from "./open-continuation-store.ts";
export { openSqliteStore } from "./open-sqlite-store.ts";
export { SqliteStoreError, type SqliteStoreReason } from "./sqlite-store-error.ts";
export type { SqliteStoreOptions, SyncMode } from "./store-options.ts";
