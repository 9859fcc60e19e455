import type { Database, Transaction } from "./database.ts";
import { corrupt, databaseError } from "./failures.ts";
import { type MigrationStep, migrationSteps } from "./migrations/index.ts";
import { safeNumber } from "./rows.ts";

/** The first key of the advisory lock that one migration at a time holds. */
const lockClass = 0x48_4b_73_74;

/** The version that is stored, and the oldest whose programs may use it. */
interface SchemaState {
  readonly version: number;
  readonly worksWith: number;
}

/** A schema beside this program. */
export interface PostgresSchemaReport {
  readonly schema: string;
  /** The version that is stored; 0 for a schema that was never migrated. */
  readonly version: number;
  /** The version of this program. */
  readonly programVersion: number;
  /** The oldest version whose programs may use what is stored. */
  readonly worksWith: number;
  /**
   * `current`: nothing to do. `older`: migrate it. `newer`: this program may use it. `unusable`: this program may not use it; use
   * a newer one.
   */
  readonly status: "current" | "older" | "newer" | "unusable";
}

const newestOf = (steps: readonly MigrationStep[]): number => steps.at(-1)?.version ?? 0;

const readState = async ({ query }: Pick<Transaction, "query">, schema: string): Promise<SchemaState> => {
  // A read of the catalog: `to_regclass` may answer from a cache that is older than the lock.
  const found = await query(
    "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'migrations'",
    schema,
  );
  if (found.length === 0) return { version: 0, worksWith: 0 };
  const [row] = await query(
    "SELECT max(version) AS version, max(works_with) AS works_with FROM store.migrations",
  );
  if (row?.version == null) throw corrupt("the table of migrations is empty");
  return { version: safeNumber(row.version), worksWith: safeNumber(row.works_with) };
};

/** Throws `newer_schema` if programs of this version may not use what is stored. */
const checkNotNewer = ({ version, worksWith }: SchemaState, newest: number): void => {
  if (worksWith <= newest) return;
  const message = `the schema has version ${version} and this program knows ${newest}: use a newer program`;
  throw databaseError("newer_schema", message);
};

/** What is stored, beside what this program knows. Changes nothing. */
export const reportSchema = async (
  database: Database,
  steps: readonly MigrationStep[] = migrationSteps,
): Promise<PostgresSchemaReport> => {
  const { schema } = database.options;
  const { version, worksWith } = await readState({ query: (...args) => database.query(...args) }, schema);
  const programVersion = newestOf(steps);
  const known = version === programVersion ? "current" : version < programVersion ? "older" : "newer";
  return {
    schema,
    version,
    programVersion,
    worksWith,
    status: worksWith > programVersion ? "unusable" : known,
  };
};

/**
 * Brings the schema to the version of this program, all or nothing; of several processes that do this at once, one changes the
 * schema. A newer schema is used if its steps allow programs of this version. Rejects with `newer_schema`, and with
 * `older_schema` where migrations are only checked.
 */
export const migrate = async (
  database: Database,
  steps: readonly MigrationStep[] = migrationSteps,
): Promise<void> => {
  const { schema, migrate: mode, limits } = database.options;
  const newest = newestOf(steps);
  const seen = await readState({ query: (...args) => database.query(...args) }, schema);
  checkNotNewer(seen, newest);
  if (seen.version >= newest) return;
  if (mode === "check") {
    const message = `the schema ${schema} has version ${seen.version} and this program needs ${newest}: migrate it`;
    throw databaseError("older_schema", message);
  }
  await database.write(async (transaction) => {
    const { query } = transaction;
    await query("SET LOCAL lock_timeout = 0");
    await query("SELECT pg_advisory_xact_lock($1, hashtext($2))", lockClass, schema);
    // The process that held the lock may have done it.
    const state = await readState(transaction, schema);
    checkNotNewer(state, newest);
    if (state.version >= newest) return;
    if (state.version === 0) {
      await query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
      await query(
        `CREATE TABLE store.migrations (
           version int PRIMARY KEY, works_with int NOT NULL, at timestamptz NOT NULL DEFAULT now()
         )`,
      );
    }
    for (const { version, sql, worksWith } of steps) {
      if (version <= state.version) continue;
      await query(sql);
      await query("INSERT INTO store.migrations (version, works_with) VALUES ($1, $2)", version, worksWith);
    }
  }, limits.migrationTimeoutMs);
};
