import { openPostgresStore } from "../../../packages/store-postgres/dist/index.js";

/** Short waits, so that a death costs a second. */
export const leaseTtlMs = 700;

/**
 * The stores of a schema: conversations and threads.
 *
 * @param {{ url: string, schema: string, patience: number }} place `patience`: how much longer each time is than on a quiet machine
 */
export const openStores = async ({ url, schema, patience }) => {
  const store = await openPostgresStore({
    ...{ url, schema },
    limits: {
      leasePollMs: 100,
      wakePollMs: 200,
      threadLeaseMs: 900 * patience,
      idleTransactionTimeoutMs: 2000 * patience,
      statementTimeoutMs: 5000 * patience,
      connectTimeoutMs: 3000 * patience,
      maxConnections: 6,
    },
  });
  return { graph: store.graph, threads: store.threads, close: store.close };
};
