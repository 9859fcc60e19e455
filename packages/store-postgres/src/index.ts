export { StoreError } from "@harnesskit/graph";
export {
  checkPostgresSchema,
  migratePostgresSchema,
  type PostgresSchemaOptions,
  postgresSchemaStats,
  prunePostgresSchema,
} from "./administration.ts";
export { openPostgresStore, type PostgresStore } from "./open-postgres-store.ts";
export { type PostgresStoreOptions, postgresStoreLimits } from "./store-options.ts";
