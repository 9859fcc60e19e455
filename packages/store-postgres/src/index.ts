export { StoreError } from "@harnesskit/graph";
export type { PostgresStoreReason } from "./failures.ts";
export { openPostgresStore, type PostgresStore } from "./open-postgres-store.ts";
export { type PostgresStoreLimits, type PostgresStoreOptions, postgresStoreLimits } from "./store-options.ts";
