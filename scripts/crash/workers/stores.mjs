import { join } from "node:path";
import { load } from "./built.mjs";

/** Short waits, so that a death costs a second. */
export const leaseTtlMs = 700;

const postgresLimits = {
  leasePollMs: 100,
  wakePollMs: 200,
  threadLeaseMs: 900,
  idleTransactionTimeoutMs: 2000,
  statementTimeoutMs: 5000,
  connectTimeoutMs: 3000,
};

/**
 * The stores of an engine: conversations, and threads, which are files beside a SQLite store.
 *
 * @param {{ engine: "sqlite" | "postgres", directory: string, url?: string, schema?: string, maxConnections?: number }} place
 */
export const openStores = async ({ engine, directory, url, schema, maxConnections = 6 }) => {
  if (engine === "postgres") {
    const { openPostgresStore } = await load("store-postgres");
    const limits = { ...postgresLimits, maxConnections };
    const store = await openPostgresStore({ url, schema, limits });
    return { graph: store.graph, threads: store.threads, close: store.close };
  }
  const { openSqliteStore } = await load("store-sqlite");
  const { createFileThreadStore } = await load("thread-server", "node");
  const graph = await openSqliteStore({ file: join(directory, "chat.sqlite") });
  const threads = createFileThreadStore({ root: directory });
  return {
    graph,
    threads,
    close: async () => {
      await threads.close();
      await graph.close();
    },
  };
};
