import { join } from "node:path";
import { openPostgresStore } from "../../../packages/store-postgres/dist/index.js";
import { openApprovalStore } from "../../../packages/store-sqlite/dist/index.js";

const limits = { maxOpen: 100_000, maxOpenPerSession: 1000, maxRecords: 1_000_000 };

/**
 * The approvals of an engine.
 *
 * @param {{ directory: string, url?: string, schema?: string }} place
 */
export const openApprovals = async ({ directory, url, schema }) => {
  if (url === undefined) {
    const store = await openApprovalStore({ file: join(directory, "approvals.db"), limits });
    return { store, close: () => store.close() };
  }
  const database = await openPostgresStore({
    ...{ url, schema, approvals: { limits } },
    limits: { maxConnections: 2, idleTransactionTimeoutMs: 2000 },
  });
  return { store: database.approvals, close: database.close };
};
