export { StoreError } from "@harnesskit/graph";
export type { ContinuationClaim, PostgresContinuationStore } from "./continuation-store.ts";
export type { PostgresStoreReason } from "./failures.ts";
export { openPostgresStore, type PostgresStore } from "./open-postgres-store.ts";
export type { PostgresRecords } from "./record-store.ts";
export { type PostgresStoreLimits, type PostgresStoreOptions, postgresStoreLimits } from "./store-options.ts";
