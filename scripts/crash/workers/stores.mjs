import { join } from "node:path";

/** Short waits, so that a death costs a second. */
export const leaseTtlMs = 700;

const postgresLimits = (patience) => ({
  leasePollMs: 100,
  wakePollMs: 200,
  threadLeaseMs: 900 * patience,
  idleTransactionTimeoutMs: 2000 * patience,
  statementTimeoutMs: 5000 * patience,
  connectTimeoutMs: 3000 * patience,
});

/**
 * The stores of an engine: conversations, and threads, which are files beside a SQLite store.
 *
 * @param {{ engine: "sqlite" | "postgres", directory: string, url?: string, schema?: string, maxConnections?: number, patience: number }} place
 *   `patience`: how much longer each time is than on a quiet machine
 */
export const openStores = async ({ engine, directory, url, schema, patience, maxConnections = 6 }) => {
  if (engine === "postgres") {
    const { openPostgresStore } = await import("../../../packages/store-postgres/dist/index.js");
    const limits = { ...postgresLimits(patience), maxConnections };
    const store = await openPostgresStore({ url, schema, limits });
    return { graph: store.graph, threads: store.threads, close: store.close };
  }
  const { openSqliteStore } = await import("../../../packages/store-sqlite/dist/index.js");
  const { createFileThreadStore } = await import("../../../packages/thread-server/dist/node.js");
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
