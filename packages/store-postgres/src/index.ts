export { StoreError } from "@harnesskit/graph";
export {
  checkPostgresSchema,
  migratePostgresSchema,
  type PostgresSchemaOptions,
  postgresSchemaStats,
  prunePostgresSchema,
} from "./administration.ts";
export type { PostgresThreads } from "./artifacts.ts";
export type {
  ContinuationClaim,
  PostgresContinuationStore,
  StoredContinuation,
} from "./continuation-store.ts";
export type { PostgresStoreReason } from "./failures.ts";
export type { PostgresSchemaReport } from "./migrate.ts";
export { openPostgresStore, type PostgresStore, type PostgresStoreStats } from "./open-postgres-store.ts";
export type { PruneOptions, PruneReport } from "./prune.ts";
export type { PostgresRecords } from "./record-store.ts";
export type { PostgresSchemaStats, PostgresTableStats } from "./schema-stats.ts";
export {
  type PostgresApprovalOptions,
  type PostgresStoreLimits,
  type PostgresStoreOptions,
  postgresStoreLimits,
} from "./store-options.ts";
export type { PostgresTimelineOptions } from "./timeline-store.ts";
export type { WakeStats } from "./wakes.ts";
