import type { StateStore } from "@harnesskit/ahp-server";
import type { ApprovalStore } from "@harnesskit/approvals";
import type { GraphStore } from "@harnesskit/graph";
import type { ThreadStore } from "@harnesskit/thread-server";
import type { TimelineStore } from "@harnesskit/timeline";
import { defineOptions } from "@harnesskit/wire";
import { createApprovals } from "./approval-store.ts";
import { openContinuations, type PostgresContinuationStore } from "./continuation-store.ts";
import { Database } from "./database.ts";
import { createGraphStore } from "./graph-store.ts";
import { migrate } from "./migrate.ts";
import { createRecords, type PostgresRecords } from "./record-store.ts";
import { keyIn } from "./rows.ts";
import { openStateStore } from "./state-store.ts";
import { type PostgresStoreOptions, resolveOptions } from "./store-options.ts";
import { PostgresThreadStore } from "./thread-store.ts";
import { openTimeline, type PostgresTimelineOptions } from "./timeline-store.ts";
import { type WakeStats, Wakes } from "./wakes.ts";

const checkPostgresStoreOptions = defineOptions<PostgresStoreOptions>("openPostgresStore", {
  url: true,
  listenUrl: false,
  schema: false,
  tls: false,
  migrate: { apply: true, check: true },
  approvals: false,
  limits: false,
  clock: false,
  onError: false,
});

export interface PostgresStoreStats {
  /** `waiting`: calls that wait for a connection. */
  readonly connections: { readonly total: number; readonly idle: number; readonly waiting: number };
  readonly wakes: WakeStats;
}

/** The stores of one database, over the connections of one process. */
export interface PostgresStore extends AsyncDisposable {
  /** Conversations: sessions, suspensions and leases. */
  readonly graph: GraphStore;
  /** Threads, their events and their artifacts. */
  readonly threads: ThreadStore;
  /** Questions to humans, and `always` grants. Times are the database's. */
  readonly approvals: ApprovalStore;
  /** Continuations of shells. */
  readonly continuations: PostgresContinuationStore;
  /**
   * Opens the timeline of hubs: any number of hubs, of any number of processes, share it. The store's `close` closes it, too. Rejects
   * with `invalid_argument` for limits, and with a `StoreError`.
   */
  openTimeline(options?: PostgresTimelineOptions): Promise<TimelineStore>;
  /**
   * Opens the state of the runs of one AHP server, under a name that no other server uses at the same time. The caller closes it before the
   * store. Rejects with `invalid_argument` for the name, and with a `StoreError`.
   */
  openRunState(name: string): Promise<StateStore>;
  /** The names of all states of runs that are kept. */
  runStates(): Promise<readonly string[]>;
  /** A list of records that cores share, such as `grants` or `directives`, under a name of yours. */
  records<Item>(name: string): PostgresRecords<Item>;
  /** This process: its connections, and whether it hears of others at once. */
  stats(): PostgresStoreStats;
  /** Releases what the stores hold, and closes the connections. Idempotent. */
  close(): Promise<void>;
}

/**
 * Opens the stores in a PostgreSQL database (14 or newer), and brings its schema to the version of this program. Any number of
 * processes may have the same schema open. Rejects with `invalid_argument` for options that are not valid, and with a
 * `StoreError` whose `reason` is a {@link PostgresStoreReason}.
 */
export const openPostgresStore = async (options: PostgresStoreOptions): Promise<PostgresStore> => {
  checkPostgresStoreOptions(options);
  const resolved = resolveOptions(options);
  const database = new Database(resolved);
  const wakes = new Wakes(database);
  try {
    await migrate(database);
    const continuations = await openContinuations(database);
    const approvals = createApprovals(database, wakes, resolved.approvals);
    const graph = createGraphStore(database, wakes);
    const threads = new PostgresThreadStore(database, wakes);
    const timelines = new Set<TimelineStore>();
    const close = async () => {
      continuations.close();
      await Promise.allSettled([...timelines].map((timeline) => timeline.close()));
      await Promise.allSettled([graph.close(), threads.close(), approvals.close()]);
      await wakes.close();
      await database.close();
    };
    return {
      graph,
      threads,
      approvals,
      continuations: continuations.store,
      async openTimeline(timelineOptions = {}) {
        const timeline = await openTimeline(database, wakes, timelineOptions);
        timelines.add(timeline);
        return timeline;
      },
      runStates: async () =>
        (await database.query("SELECT name FROM store.run_states ORDER BY name")).map(({ name }) =>
          keyIn(name),
        ),
      openRunState: (name) => openStateStore(database, name),
      records: (name) => createRecords(database, name, resolved.limits.maxRecords),
      stats: () => ({ connections: database.connections, wakes: wakes.stats }),
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await database.close();
    throw error;
  }
};
