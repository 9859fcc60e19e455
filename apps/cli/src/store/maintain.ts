import { type GraphStore, hasCode, type Lease, sessionLeaseKey } from "@harnesskit/graph";
import {
  checkPostgresSchema,
  migratePostgresSchema,
  postgresSchemaStats,
  prunePostgresSchema,
} from "@harnesskit/store-postgres";
import { isObject } from "@harnesskit/wire/json";
import { ExitCode, usageError } from "../cli-error.ts";
import { io } from "../io.ts";
import { emit } from "../terminal/terminal.ts";
import { withCleanup } from "../with-cleanup.ts";
import { workspaceDirectory } from "../workspace-directory.ts";
import { asWords, conversationsIn, describeLocation, type StoreLocation, toLocation } from "./location.ts";
import { type Database, openConversations, opening, schemaOf } from "./open.ts";

export interface DatabaseOptions {
  readonly store: string;
  readonly json?: true;
}

type Values = Readonly<Record<string, unknown>>;

const factsOf = (value: unknown): string =>
  isObject(value)
    ? Object.entries(value)
        .map(([name, one]) => `${asWords(name)} ${String(one)}`)
        .join(", ")
    : String(value);

/** Shows values as lines `name value`, a list with a line for each entry, or as one JSON document. */
const show = (location: StoreLocation, values: Values, json: true | undefined): void => {
  emit(json, { store: describeLocation(location), ...values }, (named) =>
    Object.entries(named).flatMap(([name, value]) =>
      Array.isArray(value)
        ? [asWords(name), ...value.map((one) => `  ${factsOf(one)}`)]
        : `${asWords(name).padEnd(20)} ${factsOf(value)}`,
    ),
  );
};

/** The database that is meant. Throws a usage error for a file. */
const databaseOf = ({ store }: DatabaseOptions): Database => {
  const location = toLocation(store);
  if (location.kind === "postgres") return location;
  throw usageError(
    "--store must be a database here: a file is migrated when it is opened, and harness doctor checks it",
    "Name the database: --store postgres: or postgres://USER@HOST/DATABASE",
  );
};

/** `harness store migrate`: brings a database to the version of this program. */
export const migrateStore = async (options: DatabaseOptions): Promise<ExitCode> => {
  const location = databaseOf(options);
  const { before, after } = await opening(location, () => migratePostgresSchema(schemaOf(location)));
  const versions = { before: before.version, after: after.version, programVersion: after.programVersion };
  show(location, versions, options.json);
  return ExitCode.done;
};

/** `harness store check`: whether this program can use a database. */
export const checkStore = async (options: DatabaseOptions): Promise<ExitCode> => {
  const location = databaseOf(options);
  const report = await opening(location, () => checkPostgresSchema(schemaOf(location)));
  show(location, { ...report }, options.json);
  return report.status === "older" || report.status === "unusable" ? ExitCode.failed : ExitCode.done;
};

/** `harness store stats`: how much a database holds, for people and monitors. */
export const showStoreStats = async (options: DatabaseOptions): Promise<ExitCode> => {
  const location = databaseOf(options);
  show(
    location,
    { ...(await opening(location, () => postgresSchemaStats(schemaOf(location)))) },
    options.json,
  );
  return ExitCode.done;
};

export interface PruneStoreOptions {
  readonly cwd: string;
  readonly store?: string;
  readonly json?: true;
  /** Both in milliseconds. */
  readonly olderThan?: number;
  readonly threadsOlderThan?: number;
}

/** Takes a session that no process works on; undefined for one that is in use. */
const takeIdle = async ({ leases }: GraphStore, sessionId: string): Promise<Lease | undefined> => {
  try {
    return await leases.acquire(sessionLeaseKey(sessionId), { ttlMs: 10_000 });
  } catch (cause) {
    if (hasCode(cause, "lease_taken")) return undefined;
    throw cause;
  }
};

/** Removes idle conversations of a file that nothing waits in. */
const pruneFile = async (graph: GraphStore, olderThanMs: number): Promise<number> => {
  const updatedBefore = new Date(io().clock.now() - olderThanMs).toISOString();
  let removed = 0;
  for (const { session_id: sessionId } of await graph.sessions.list({ updatedBefore })) {
    const lease = await takeIdle(graph, sessionId);
    if (lease === undefined) continue;
    try {
      const session = await graph.sessions.load(sessionId);
      const turns = await graph.suspensions.list({ sessionId });
      const isOpen = turns.some(
        ({ status, is_delivered: isDelivered }) => status === "suspended" || !isDelivered,
      );
      const runs = await graph.runs.list({ sessionId });
      if (session === null || session.updated_at >= updatedBefore || isOpen || runs.length > 0) continue;
      for (const { invocation_id: id } of turns) await graph.suspensions.delete(id);
      await graph.sessions.delete(sessionId);
      removed++;
    } finally {
      await lease.release();
    }
  }
  return removed;
};

/** `harness store prune`: removes what is old and nothing waits in, and what no program needs any more. */
export const pruneStore = async (options: PruneStoreOptions): Promise<ExitCode> => {
  const { olderThan: sessionsMs, threadsOlderThan: threadsMs, json } = options;
  const location = conversationsIn(options, await workspaceDirectory(options.cwd));
  if (location.kind === "postgres") {
    const report = await opening(location, () =>
      prunePostgresSchema(schemaOf(location), {
        sessionsOlderThanMs: sessionsMs,
        threadsOlderThanMs: threadsMs,
      }),
    );
    show(location, { ...report }, json);
    return ExitCode.done;
  }
  return withCleanup(async (defer) => {
    const { graph, close } = await openConversations(location, "harness store", { mustExist: true });
    defer(close);
    const sessions =
      sessionsMs === undefined ? 0 : await opening(location, () => pruneFile(graph, sessionsMs));
    show(location, { sessions }, json);
    return ExitCode.done;
  });
};
