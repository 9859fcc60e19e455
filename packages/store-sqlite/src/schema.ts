import { corrupt, SqliteStoreError } from "./sqlite-store-error.ts";
import type { SqlValue } from "./statement.ts";

/** What setting a file up needs of a connection to it. */
export interface SchemaConnection {
  exec(sql: string): void;
  get(sql: string): SqlValue | undefined;
}

/** Marks a file as a store's, in the header of the file: "HKst". */
const applicationId = 0x48_4b_73_74;

const numberOf = (connection: SchemaConnection, sql: string): number => {
  const value = connection.get(sql);
  if (typeof value !== "number") throw corrupt("its header cannot be read");
  return value;
};

const readVersion = (connection: SchemaConnection, newest: number): number => {
  const version = numberOf(connection, "PRAGMA store.user_version");
  const owner = numberOf(connection, "PRAGMA store.application_id");
  const isEmpty =
    version === 0 && owner === 0 && numberOf(connection, "SELECT count(*) FROM store.sqlite_schema") === 0;
  if (owner !== applicationId && !isEmpty) {
    throw new SqliteStoreError("foreign_database", "the file is the database of another program");
  }
  if (version > newest) {
    const message = `the file has version ${version} of the schema and this program knows ${newest}: use a newer program`;
    throw new SqliteStoreError("newer_schema", message);
  }
  return version;
};

const rollBack = (connection: SchemaConnection): void => {
  try {
    connection.exec("ROLLBACK");
  } catch {
    // A full disk has rolled it back already.
  }
};

/** The version of a file's schema, 0 for an empty file. Throws `foreign_database` and `newer_schema`; changes nothing. */
export const schemaVersion = (connection: SchemaConnection, newest: number): number => {
  // One view of the file: another process may bring it up to date meanwhile. The lock for it is taken by `exec`: see StoreFile.
  connection.exec("BEGIN");
  try {
    connection.exec("SELECT count(*) FROM store.sqlite_schema");
    return readVersion(connection, newest);
  } finally {
    rollBack(connection);
  }
};

/**
 * Brings a file to the newest version of the schema, all or nothing, and says which version that is. A file that has it is
 * only read. Of several processes that do this at once, one changes the file.
 */
export const migrate = (connection: SchemaConnection, migrations: readonly string[]): void => {
  const newest = migrations.length;
  if (schemaVersion(connection, newest) === newest) return;
  connection.exec("BEGIN IMMEDIATE");
  try {
    // Whoever held the file until now may have done it.
    const steps = migrations.slice(readVersion(connection, newest));
    for (const step of steps) connection.exec(step);
    connection.exec(`PRAGMA store.application_id = ${applicationId}`);
    connection.exec(`PRAGMA store.user_version = ${newest}`);
    connection.exec("COMMIT");
  } catch (error) {
    rollBack(connection);
    throw error;
  }
};
