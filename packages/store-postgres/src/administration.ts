import { Database } from "./database.ts";
import { migrate, type PostgresSchemaReport, reportSchema } from "./migrate.ts";
import { type PruneOptions, type PruneReport, prune } from "./prune.ts";
import { type PostgresSchemaStats, readSchemaStats } from "./schema-stats.ts";
import { type PostgresStoreOptions, resolveOptions } from "./store-options.ts";

/** Which schema, and how it is reached. */
export type PostgresSchemaOptions = Omit<PostgresStoreOptions, "migrate" | "approvals">;

/** Works with one connection, which is closed afterwards. */
const withDatabase = async <T>(
  options: PostgresSchemaOptions,
  work: (database: Database) => Promise<T>,
): Promise<T> => {
  const limits = { ...options.limits, maxConnections: 1 };
  const database = new Database(resolveOptions({ ...options, migrate: "apply", limits }));
  try {
    return await work(database);
  } finally {
    await database.close();
  }
};

/**
 * The version of a schema beside that of this program. Changes nothing, and needs no schema. Rejects as `openPostgresStore` does, except for the
 * versions, which are in the report.
 */
export const checkPostgresSchema = (options: PostgresSchemaOptions): Promise<PostgresSchemaReport> =>
  withDatabase(options, (database) => reportSchema(database));

/**
 * Brings a schema to the version of this program, as `openPostgresStore` does, and returns what it was before and is now. Rejects with the reason
 * `newer_schema` for a schema that this program may not use.
 */
export const migratePostgresSchema = (
  options: PostgresSchemaOptions,
): Promise<{ readonly before: PostgresSchemaReport; readonly after: PostgresSchemaReport }> =>
  withDatabase(options, async (database) => {
    const before = await reportSchema(database);
    await migrate(database);
    return { before, after: await reportSchema(database) };
  });

/** Removes what is not needed any more: see {@link PruneOptions}. Safe beside running processes. */
export const prunePostgresSchema = (
  options: PostgresSchemaOptions,
  what: PruneOptions = {},
): Promise<PruneReport> => withDatabase(options, (database) => prune(database, what));

/** Resolves with the size and the open work of a schema, for a monitor. */
export const postgresSchemaStats = (options: PostgresSchemaOptions): Promise<PostgresSchemaStats> =>
  withDatabase(options, readSchemaStats);
