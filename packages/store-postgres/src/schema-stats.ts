import type { Database } from "./database.ts";
import { safeNumber, textIn } from "./rows.ts";

/** One table of the schema. */
export interface PostgresTableStats {
  readonly name: string;
  /** As the database estimates it: exact only after it was analysed. */
  readonly rows: number;
  /** With its indexes. */
  readonly bytes: number;
}

/** What a schema holds. */
export interface PostgresSchemaStats {
  readonly bytes: number;
  /** The largest first. */
  readonly tables: readonly PostgresTableStats[];
  /** Turns that wait for a signal. */
  readonly suspended: number;
  /** Ends of turns that no listener has taken. */
  readonly undelivered: number;
  /** Approvals that wait for an answer, for their asker or for an outcome. */
  readonly openApprovals: number;
  /** Sessions that a process works on. */
  readonly leasedSessions: number;
  /** Threads that a server holds. */
  readonly leasedThreads: number;
  /** What AHP servers know of runs: under how many names, and how long ago the oldest was written, in milliseconds; 0 without any. */
  readonly runStates: { readonly names: number; readonly oldestMs: number };
  /** The timeline of hubs, as its limits count it. */
  readonly timeline: { readonly rows: number; readonly bytes: number };
  /** Connections to the database by all programs, and how many it takes. */
  readonly connections: { readonly used: number; readonly max: number };
}

/** Numbers for a monitor. Counts what indexes make cheap to count, and estimates the rest. */
export const readSchemaStats = async (database: Database): Promise<PostgresSchemaStats> => {
  const tables = await database.query(
    `SELECT c.relname AS name, greatest(c.reltuples, coalesce(s.n_live_tup, 0), 0)::bigint AS rows,
       pg_total_relation_size(c.oid) AS bytes
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
     WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') ORDER BY bytes DESC, name`,
    database.options.schema,
  );
  const [row] = await database.query(
    `SELECT
       (SELECT count(*) FROM store.suspensions WHERE status = 'suspended') AS suspended,
       (SELECT count(*) FROM store.suspensions WHERE NOT is_delivered AND status <> 'suspended') AS undelivered,
       (SELECT count(*) FROM store.approvals WHERE due_at IS NOT NULL) AS open_approvals,
       (SELECT count(*) FROM store.leases WHERE expires_at > clock_timestamp()) AS sessions,
       (SELECT count(*) FROM store.threads WHERE lease_until > clock_timestamp()) AS threads,
       (SELECT count(*) FROM store.run_states) AS run_states,
       (SELECT coalesce(greatest(0, extract(epoch FROM clock_timestamp() - min(updated_at)) * 1000), 0)::bigint
        FROM store.run_states) AS oldest_run_state,
       (SELECT coalesce(sum(rows), 0)::bigint FROM store.timeline_counter) AS timeline_rows,
       (SELECT coalesce(sum(bytes), 0)::bigint FROM store.timeline_counter) AS timeline_bytes,
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
       current_setting('max_connections')::bigint AS max`,
  );
  const stats = tables.map(({ name, rows, bytes }) => ({
    name: textIn(name),
    rows: safeNumber(rows),
    bytes: safeNumber(bytes),
  }));
  return {
    bytes: stats.reduce((sum, { bytes }) => sum + bytes, 0),
    tables: stats,
    suspended: safeNumber(row?.suspended),
    undelivered: safeNumber(row?.undelivered),
    openApprovals: safeNumber(row?.open_approvals),
    leasedSessions: safeNumber(row?.sessions),
    leasedThreads: safeNumber(row?.threads),
    runStates: { names: safeNumber(row?.run_states), oldestMs: safeNumber(row?.oldest_run_state) },
    timeline: { rows: safeNumber(row?.timeline_rows), bytes: safeNumber(row?.timeline_bytes) },
    connections: { used: safeNumber(row?.used), max: safeNumber(row?.max) },
  };
};
