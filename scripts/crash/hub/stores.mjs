import { join } from "node:path";
import { openPostgresStore } from "../../../packages/store-postgres/dist/index.js";
import { openApprovalStore, openTimelineStore } from "../../../packages/store-sqlite/dist/index.js";

/**
 * The stores of a hub: files in its directory, or a schema of PostgreSQL that all hubs share.
 *
 * @param {{ directory: string, url?: string, schema?: string }} place
 */
export const openHubStores = async ({ directory, url, schema }) => {
  const limits = { maxOpenPerSession: 1000, watchPollMs: 50 };
  if (url === undefined) {
    const approvals = await openApprovalStore({ file: join(directory, "approvals.db"), limits });
    const timeline = await openTimelineStore({ file: join(directory, "timeline.db") });
    return {
      approvals,
      timeline,
      close: async () => {
        await approvals.close();
        await timeline.close();
      },
    };
  }
  const store = await openPostgresStore({
    ...{ url, schema },
    approvals: { limits: { ...limits, watchPollMs: 1000 } },
    limits: { maxConnections: 4, timelineLeaseMs: 1000, idleTransactionTimeoutMs: 2000 },
  });
  return { approvals: store.approvals, timeline: await store.openTimeline(), close: store.close };
};
