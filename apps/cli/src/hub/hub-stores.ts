import { join } from "node:path";
import type { ApprovalStore } from "@harnesskit/approvals";
import { openApprovalStore, openTimelineStore } from "@harnesskit/store-sqlite";
import type { TimelineStore } from "@harnesskit/timeline";
import { usageError } from "../cli-error.ts";
import { describeLocation, toLocation } from "../store/location.ts";
import { opening, openPostgres } from "../store/open.ts";

/** The watcher of a file looks for changes of other processes: there are none while the state is locked. */
const watchPollMs = 1000;

/** Where a hub keeps what was asked, and what happened. */
export interface HubStores {
  readonly approvals: ApprovalStore;
  readonly timeline: TimelineStore;
  /** Where, without a secret; undefined for files of the hub's directory. */
  readonly place: string | undefined;
}

/**
 * Opens the stores of a hub: `postgres:` or a URL of PostgreSQL, else files in `directory`; `defer` closes them. Rejects with a usage error for a store that hubs do not have, and with
 * `store_unavailable`.
 */
export const openHubStores = async (
  store: string | undefined,
  directory: string,
  retentionMs: number,
  defer: (cleanup: () => unknown) => void,
): Promise<HubStores> => {
  if (store !== undefined) {
    const location = toLocation(store);
    if (location.kind !== "postgres") {
      throw usageError(
        "--store of a hub is postgres: or postgres://USER@HOST/DATABASE",
        "Without --store, a hub keeps its files in --state DIR",
      );
    }
    const database = await openPostgres(location, "harness hub", { approvals: { limits: { retentionMs } } });
    defer(() => database.close());
    const timeline = await opening(location, () => database.openTimeline({ limits: { retentionMs } }));
    return { approvals: database.approvals, timeline, place: describeLocation(location) };
  }
  const approvals = await openApprovalStore({
    file: join(directory, "approvals.db"),
    limits: { retentionMs, watchPollMs },
  });
  defer(() => approvals.close());
  const timeline = await openTimelineStore({ file: join(directory, "timeline.db"), limits: { retentionMs } });
  defer(() => timeline.close());
  return { approvals, timeline, place: undefined };
};
