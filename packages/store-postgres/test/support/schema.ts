import { randomBytes } from "node:crypto";
import pg from "pg";
import { postgresUrl as url } from "../../../../test-kit/postgres.ts";
import { openPostgresStore, type PostgresStore, type PostgresStoreOptions } from "../../src/index.ts";

/** A schema of its own on the server of the test run; it is dropped at the end of the scope. */
export const newSchema = async () => {
  const schema = `test_${randomBytes(6).toString("hex")}`;
  const opened: PostgresStore[] = [];
  const run = async (sql: string, ...values: unknown[]) => {
    const client = new pg.Client(url);
    await client.connect();
    try {
      return (await client.query(sql.replaceAll("store.", `${schema}.`), values)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    url,
    schema,
    /** Rows of a statement in which `store.` stands for the schema. */
    run,
    /** Opens the stores; they are closed at the end of the scope. */
    async open(options: Partial<PostgresStoreOptions> = {}): Promise<PostgresStore> {
      const store = await openPostgresStore({
        url,
        schema,
        ...options,
        limits: { maxConnections: 4, leasePollMs: 20, ...options.limits },
      });
      opened.push(store);
      return store;
    },
    /** Closes the stores, and removes what they hold. */
    async clear(): Promise<void> {
      for (const store of opened.splice(0)) await store.close();
      await run(
        `DO $$ BEGIN EXECUTE (
           SELECT 'TRUNCATE ' || string_agg(format('%I.%I', schemaname, tablename), ', ')
           FROM pg_tables WHERE schemaname = '${schema}' AND tablename <> 'migrations'
         ); END $$`,
      );
    },
    async [Symbol.asyncDispose]() {
      for (const store of opened) await store.close();
      await run(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    },
  };
};
