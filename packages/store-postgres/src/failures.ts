import { StoreError } from "@harnesskit/graph";
import { HarnessError } from "@harnesskit/wire";
import pg from "pg";

/** Why the database could not be used: the `reason` of a `StoreError` of this package. */
export type PostgresStoreReason =
  | "access_denied"
  | "busy"
  | "corrupt"
  | "disk_full"
  | "failed"
  | "newer_schema"
  | "no_database"
  | "older_schema"
  | "outcome_unknown"
  | "read_only"
  | "timed_out"
  | "too_large"
  | "unavailable";

/** Reasons that are a limit which is reached; all others are a storage that fails. */
const full: ReadonlySet<PostgresStoreReason> = new Set(["disk_full", "too_large"]);

const messages: Readonly<Record<PostgresStoreReason, string>> = {
  access_denied: "the database refused this user: check its name, password and rights",
  busy: "other processes held what this call needs for too long",
  corrupt: "the database holds what this store has not written",
  disk_full: "the database has no room left",
  failed: "the database refused a statement",
  newer_schema: "the schema is of a newer program: use a newer program",
  no_database: "the database does not exist: create it, or correct its name in the URL",
  older_schema: "the schema is older than this program needs: migrate it",
  outcome_unknown: "the connection was lost during the commit: it is not known whether the write is stored",
  read_only: "the database does not take writes: connect to the primary",
  timed_out: "the database did not answer in time",
  too_large: "a value is larger than the database can keep",
  unavailable: "the database cannot be reached",
};

/** A `StoreError` with the code `store_full` for a limit and `store_failed` for every other reason. */
export const databaseError = (
  reason: PostgresStoreReason,
  message: string = messages[reason],
  cause?: unknown,
): StoreError =>
  new StoreError(full.has(reason) ? "store_full" : "store_failed", message, {
    reason,
    cause,
  });

/** What was read is not what a store has written. */
export const corrupt = (what: string, cause?: unknown): StoreError =>
  databaseError("corrupt", `the database holds what this store has not written: ${what}`, cause);

/** By SQLSTATE, or by its class (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const known: ReadonlyMap<string, PostgresStoreReason> = new Map([
  ["08", "unavailable"],
  ["57P", "unavailable"],
  ["25P03", "unavailable"],
  ["53300", "unavailable"],
  ["23505", "busy"],
  ["40001", "busy"],
  ["40P01", "busy"],
  ["55P03", "busy"],
  ["57014", "timed_out"],
  ["25006", "read_only"],
  ["28", "access_denied"],
  ["3D", "no_database"],
  ["42501", "access_denied"],
  ["3F", "older_schema"],
  ["42P01", "older_schema"],
  ["42703", "older_schema"],
  ["53100", "disk_full"],
  ["22001", "too_large"],
  ["54", "too_large"],
  ["XX", "corrupt"],
]);

const reasonOf = (cause: unknown): PostgresStoreReason => {
  if (cause instanceof pg.DatabaseError) {
    const code = cause.code ?? "";
    const lengths = [5, 3, 2];
    return lengths.map((length) => known.get(code.slice(0, length))).find(Boolean) ?? "failed";
  }
  // The driver has no code for its own timeouts.
  const { message = "" } = (cause ?? {}) as Partial<Error>;
  return /timeout/.test(message) ? "timed_out" : "unavailable";
};

/** What may be shown of an error of the driver: its fields hold rows, addresses and parts of connection strings. */
const safeCause = (cause: unknown): HarnessError => {
  const code: unknown = (cause as { code?: unknown } | null | undefined)?.code;
  return new HarnessError("postgres_error", `PostgreSQL or its connection failed with ${code ?? "no code"}`);
};

/** Nothing behind its host has an "@": then what stands before it is no part of a password that was not encoded. */
const plainUrl = /^postgres(ql)?:\/\/([^@/?#]*@)?[^@]*$/;

/** Where a connection went, and the code of the system that says why there is none. */
const whereOf = (cause: unknown, url: string | undefined): string => {
  const code: unknown = (cause as { code?: unknown } | null | undefined)?.code;
  if (typeof code !== "string" || !/^E[A-Z_]+$/.test(code)) return "";
  if (url === undefined || !plainUrl.test(url)) return ` (${code})`;
  const { host, port } = new pg.Client({ connectionString: url });
  return ` at ${host}:${port} (${code})`;
};

/** An error of the driver as a `StoreError`, which names the host of `url`; an error of this project stays as it is. */
export const toStoreError = (cause: unknown, url?: string): HarnessError => {
  if (HarnessError.isInstance(cause)) return cause;
  const reason = reasonOf(cause);
  const where = reason === "unavailable" ? whereOf(cause, url) : "";
  return databaseError(reason, `${messages[reason]}${where}`, safeCause(cause));
};

/** True for what happened before anything was applied, and may not happen again. */
export const isPassing = (error: HarnessError): boolean =>
  StoreError.isInstance(error) && (error.reason === "busy" || error.reason === "unavailable");

/** What the values of a statement may cause. Every other reason is the database's, and meets the next call, too. */
const ofValues: ReadonlySet<unknown> = new Set<PostgresStoreReason>(["corrupt", "failed", "too_large"]);

/** True for a failure of the database, not of what it was given. */
export const isOfDatabase = (error: unknown): boolean =>
  StoreError.isInstance(error) && !ofValues.has(error.reason);
