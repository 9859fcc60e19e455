import { postgresSchemaStats } from "@harnesskit/store-postgres";
import type { ThreadStore } from "@harnesskit/thread-server";
import type { StoreLocation } from "./location.ts";
import { opening, schemaOf } from "./open.ts";

/** What was not copied, by kind. */
export type Left = Readonly<Record<string, number>>;

/** What a database has that a file of conversations cannot take. */
export const leftBehind = (
  from: Extract<StoreLocation, { kind: "postgres" }>,
  threads: ThreadStore,
): Promise<Left> =>
  opening(from, async () => {
    const { openApprovals, timeline, runStates } = await postgresSchemaStats(schemaOf(from));
    const counts = {
      threads: (await threads.list()).length,
      openApprovals,
      timelineRows: timeline.rows,
      ahpRunNames: runStates.names,
    };
    return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
  });
