import { join } from "node:path";
import { openPostgres } from "../lib/postgres.mjs";

let server;

/** The URL of the PostgreSQL server of this run; undefined for another engine. */
export const urlOf = async (engine) => {
  if (engine !== "postgres") return undefined;
  server ??= openPostgres();
  return (await server).url;
};

/** Closes stores one after the other. */
const closing =
  (...stores) =>
  async () => {
    for (const store of stores) await store?.close();
  };

/** Short waits, so that a death costs a second. */
const postgresLimits = (patience) => ({
  ...{ leasePollMs: 100, wakePollMs: 200, maxConnections: 6 },
  threadLeaseMs: 1000 * patience,
  idleTransactionTimeoutMs: 2000 * patience,
  statementTimeoutMs: 5000 * patience,
  connectTimeoutMs: 3000 * patience,
});

/**
 * The stores of conversations (`graph`) and of threads: a SQLite file with threads beside it, threads alone (`files`), or a schema of
 * PostgreSQL.
 *
 * @param {{ engine: "files" | "sqlite" | "postgres", directory: string, url?: string, schema?: string, patience?: number }} place
 *   `patience`: how much longer each time is than on a quiet machine
 */
export const openStores = async ({ engine, directory, url, schema, patience = 1 }) => {
  if (engine === "postgres") {
    const { openPostgresStore } = await import("../../packages/store-postgres/dist/index.js");
    return openPostgresStore({ url, schema, limits: postgresLimits(patience) });
  }
  const { createFileThreadStore } = await import("../../packages/thread-server/dist/node.js");
  const threads = createFileThreadStore({ root: directory });
  if (engine === "files") return { threads, close: closing(threads) };
  const { openSqliteStore } = await import("../../packages/store-sqlite/dist/index.js");
  const graph = await openSqliteStore({ file: join(directory, "chat.sqlite") });
  return { graph, threads, close: closing(threads, graph) };
};

/**
 * The stores of a hub: files in its directory, or a schema of PostgreSQL that all hubs share.
 *
 * @param {{ directory: string, url?: string, schema?: string }} place
 */
export const openHubStores = async ({ directory, url, schema }) => {
  const limits = { maxOpenPerSession: 1000, watchPollMs: 50 };
  if (url === undefined) {
    const { openApprovalStore, openTimelineStore } = await import(
      "../../packages/store-sqlite/dist/index.js"
    );
    const approvals = await openApprovalStore({ file: join(directory, "approvals.db"), limits });
    const timeline = await openTimelineStore({ file: join(directory, "timeline.db") });
    return { approvals, timeline, close: closing(approvals, timeline) };
  }
  const { openPostgresStore } = await import("../../packages/store-postgres/dist/index.js");
  const store = await openPostgresStore({
    ...{ url, schema },
    approvals: { limits: { ...limits, watchPollMs: 1000 } },
    limits: { maxConnections: 4, timelineLeaseMs: 1000, idleTransactionTimeoutMs: 2000 },
  });
  return { approvals: store.approvals, timeline: await store.openTimeline(), close: store.close };
};
