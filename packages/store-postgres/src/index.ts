export { StoreError } from "@harnesskit/graph";
export {
  checkPostgresSchema,
  migratePostgresSchema,
  type PostgresSchemaOptions,
  postgresSchemaStats,
  prunePostgresSchema,
} from "./administration.ts";
export type { PostgresStoreReason } from "./failures.ts";
export type { PostgresSchemaReport } from "./migrate.ts";
export { openPostgresStore, type PostgresStore } from "./open-postgres-store.ts";
export type { PruneOptions, PruneReport } from "./prune.ts";
export type { PostgresSchemaStats } from "./schema-stats.ts";
export { type PostgresStoreLimits, type PostgresStoreOptions, postgresStoreLimits } from "./store-options.ts";
