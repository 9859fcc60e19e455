export { StoreError } from "@harnesskit/graph";
export {
  checkPostgresSchema,
  migratePostgresSchema,
  type PostgresSchemaOptions,
  postgresSchemaStats,
  prunePostgresSchema,
} from "./administration.ts";
export type { PostgresSchemaReport } from "./migrate.ts";
export { openPostgresStore, type PostgresStore } from "./open-postgres-store.ts";
export type { PruneReport } from "./prune.ts";
export type { PostgresSchemaStats } from "./schema-stats.ts";
export { type PostgresStoreOptions, postgresStoreLimits } from "./store-options.ts";
