import type { ConnectionOptions } from "node:tls";
import type { ApprovalLimits, ApprovalStoreOptions } from "@harnesskit/approvals";
import type { Resolved } from "@harnesskit/wire";
import {
  type Clock,
  callSafely,
  defineLimits,
  InvalidArgumentError,
  type LimitsOf,
  systemClock,
} from "@harnesskit/wire";

export const postgresStoreLimits = defineLimits({
  /** Connections of this process. */
  maxConnections: { default: 10, min: 1, max: 1000 },
  /** How long a call waits for a connection. */
  connectTimeoutMs: 10_000,
  /** How long one statement may take, on the server. */
  statementTimeoutMs: 15_000,
  /** How long a statement waits for a row that another process has locked. */
  lockTimeoutMs: 10_000,
  /** How long the server keeps a transaction whose process does not go on, with what it has locked. */
  idleTransactionTimeoutMs: 10_000,
  /** How often a call is tried that was refused, or lost its connection, before anything was applied. */
  maxAttempts: { default: 5, max: 100 },
  /** How long a migration may take. */
  migrationTimeoutMs: 600_000,
  /** Characters of JSON of the most recently used sessions that are kept in memory; 0: nothing. */
  maxCachedLength: { default: 2 ** 26, min: 0 },
  /** Characters of JSON of one item of a list, one field, the state of one pause, or one event. */
  maxValueLength: { default: 2 ** 26, min: 1024, max: 2 ** 28 },
  /** States of each session that are kept, including the current one. States before a list was cut or replaced are not kept. */
  maxHistory: 50,
  /** Suspensions that have ended and are delivered; then the oldest are dropped. */
  maxEnded: { default: 10_000, min: 0 },
  /** How often to ask again for a lease that another process holds. */
  leasePollMs: 1000,
  /** How long a thread stays with a process that has died. It is renewed each third of it. */
  threadLeaseMs: { default: 30_000, min: 100 },
  /** How long the rows of a timeline that run stay with a hub that has died. It is renewed each third of it. */
  timelineLeaseMs: { default: 15_000, min: 100 },
  /** Characters of the state of runs that may wait for the database; a record beyond them is `state_not_kept`. */
  maxUnwrittenLength: { default: 2 ** 24, min: 1024 },
  /** Bytes of one artifact. */
  maxArtifactBytes: { default: 2 ** 30, min: 1024 },
  /** `always` answers of threads that are kept; one more is refused. */
  maxGrants: 10_000,
  /** Unused continuations that may have data; beyond it, the owner with the most loses its oldest. */
  maxContinuations: 100_000,
  /** Used continuations that are remembered; a claim of one more is `buffer_full`. */
  maxUsedContinuations: 1_000_000,
  /** Records of one list that cores share. */
  maxRecords: 4096,
  /** How often one process tells the others together what it has changed. */
  wakeIntervalMs: { default: 20, min: 1 },
  /** How often a process looks for what others have changed without having told it: the floor of every wake. */
  wakePollMs: 1000,
  /** How often the connection that listens is tested, and how long it is waited for before the first attempt to open it again. */
  listenCheckMs: { default: 30_000, min: 100 },
  /** How long a request with a `clientRequestId` is remembered, and that a thread was deleted. */
  maxRequestAgeMs: 7 * 24 * 60 * 60 * 1000,
  /** Requests that are remembered at most; then the oldest are dropped. */
  maxRequests: 1_000_000,
});
export type PostgresStoreLimits = LimitsOf<typeof postgresStoreLimits>;

export interface PostgresApprovalOptions extends Pick<ApprovalStoreOptions, "createId"> {
  /** Those of approvals. `watchPollMs` is 1000 by default: watchers learn of other processes by wakes. */
  readonly limits?: Partial<ApprovalLimits> | undefined;
}

export interface PostgresStoreOptions {
  /** `postgresql://user:password@host:port/database`. It is a secret: no error of this package repeats more of it than host and port. */
  readonly url: string;
  /**
   * Where the connection that listens goes, if `url` is that of a pooler that shares connections between transactions: such a
   * pooler passes no notifications on. @default `url`
   */
  readonly listenUrl?: string | undefined;
  /** The schema of the tables, created by the migration: lower-case letters, digits and `_`. @default "harnesskit" */
  readonly schema?: string | undefined;
  /** TLS for the connections, beside what `sslmode` in the URL says. @default what the URL says */
  readonly tls?: boolean | ConnectionOptions | undefined;
  /**
   * `apply` migrates an older schema when the store is opened; `check` refuses it with the reason `older_schema`, for users
   * without the right to change tables. @default "apply"
   */
  readonly migrate?: "apply" | "check" | undefined;
  /** Of {@link PostgresStore.approvals}. @default see each */
  readonly approvals?: PostgresApprovalOptions | undefined;
  /** Limits to override. @default each as {@link PostgresStoreLimits} states */
  readonly limits?: Partial<PostgresStoreLimits> | undefined;
  /**
   * Time of this process: for waiting, and to judge nothing. Leases and stored times are the database's.
   * @default that of the system
   */
  readonly clock?: Clock | undefined;
  /** Receives what failed behind the caller's back: an idle connection, a renewal; what it throws is ignored. @default ignores it */
  readonly onError?: ((error: Error) => void) | undefined;
}

export type ResolvedOptions = Resolved<Omit<PostgresStoreOptions, "limits" | "tls" | "listenUrl">> &
  Pick<PostgresStoreOptions, "tls" | "listenUrl"> & { readonly limits: PostgresStoreLimits };

/** The options with all defaults. Throws `invalid_argument`. */
export const resolveOptions = (options: PostgresStoreOptions): ResolvedOptions => {
  const { url, listenUrl, schema = "harnesskit", tls, migrate = "apply" } = options;
  for (const [name, string] of Object.entries({ url, listenUrl: listenUrl ?? url })) {
    if (typeof string === "string" && /^postgres(ql)?:\/\//.test(string)) continue;
    throw new InvalidArgumentError(`${name} must begin with postgresql://`);
  }
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema) || schema.startsWith("pg_")) {
    throw new InvalidArgumentError("schema must be lower-case letters, digits and _, and not begin with pg_");
  }
  const { clock = systemClock, approvals = {} } = options;
  const onError = (error: Error) => callSafely(() => options.onError?.(error));
  const limits = postgresStoreLimits.resolve(options.limits);
  return {
    url,
    schema,
    migrate,
    clock,
    approvals,
    onError,
    limits,
    tls,
    listenUrl,
  };
};
