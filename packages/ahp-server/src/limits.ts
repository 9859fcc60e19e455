import { defaultAhpLimits } from "@harnesskit/protocol/ahp";
import { InvalidArgumentError } from "@harnesskit/wire";

/** What agents may ask of a harness, and what it keeps. The first three are advertised in the handshake. */
export interface AhpServerLimits {
  /** Time for one request, in milliseconds; a batch is one. @default 10000, or `handlerTimeoutMs` where that is more */
  readonly timeoutMs?: number;
  /** Events of one batch. @default 100 */
  readonly batchSize?: number;
  /** The greatest `depth` of an event. @default 10 */
  readonly maxDepth?: number;
  /** Messages of one connection that are handled or unsent; then the connection is not read. @default 1024 */
  readonly maxPendingPerConnection?: number;
  /** Messages that are handled, whoever sent them; others are refused with -32603, `overloaded`. @default 16384 */
  readonly maxPending?: number;
  /** Events of one batch that are decided at the same time. @default 16 */
  readonly maxConcurrentBatchEvents?: number;
  /** Handshakes of exchanges that are remembered; the one used longest ago goes first. @default 10000 */
  readonly maxSessions?: number;
  /** How long a handshake of an exchange holds without use, in milliseconds. @default 86400000 (24 h) */
  readonly sessionTtlMs?: number;
  /** Characters of `session_id`, `agent_id` and `run_id`. @default 512 */
  readonly maxIdLength?: number;
  /** Characters of all texts of a handshake. @default 16384 */
  readonly maxHandshakeLength?: number;
  /** Runs in the state; the one that finished first goes first, else the one updated longest ago. @default 1000 */
  readonly maxRuns?: number;
  /** Verification attempts that are kept of one run. @default 16 */
  readonly maxVerificationsPerRun?: number;
  /** Characters of one `run_lifecycle`, `task_list` or `verification`, about as JSON. @default 1048576 */
  readonly maxSnapshotLength?: number;
  /** Characters of all snapshots in the state; runs go as with `maxRuns`. @default 33554432 */
  readonly maxStateLength?: number;
  /** Watches of the state at one time. @default 64 */
  readonly maxWatchers?: number;
}

export type ResolvedLimits = Required<AhpServerLimits>;

const maxTimerMs = 2 ** 31 - 1;

const whole = (name: string, value: number, min: number, max = Number.MAX_SAFE_INTEGER): number => {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw new InvalidArgumentError(`${name} is a whole number from ${min} to ${max}, not ${value}`);
};

/** The limits with their defaults, and the time for one request. Throws `invalid_argument`. */
export const resolveLimits = (
  limits: AhpServerLimits,
  handlerTimeoutMs: number | undefined,
): { readonly limits: ResolvedLimits; readonly handlerTimeoutMs: number } => {
  const given =
    handlerTimeoutMs === undefined ? undefined : whole("handlerTimeoutMs", handlerTimeoutMs, 1, maxTimerMs);
  const timeoutMs = limits.timeoutMs ?? Math.max(defaultAhpLimits.timeout_ms, given ?? 0);
  const resolved: ResolvedLimits = {
    timeoutMs: whole("timeoutMs", timeoutMs, 1, maxTimerMs),
    batchSize: whole("batchSize", limits.batchSize ?? defaultAhpLimits.batch_size, 1),
    maxDepth: whole("maxDepth", limits.maxDepth ?? defaultAhpLimits.max_depth, 0),
    maxPendingPerConnection: whole("maxPendingPerConnection", limits.maxPendingPerConnection ?? 1024, 1),
    maxPending: whole("maxPending", limits.maxPending ?? 16_384, 1),
    maxConcurrentBatchEvents: whole("maxConcurrentBatchEvents", limits.maxConcurrentBatchEvents ?? 16, 1),
    maxSessions: whole("maxSessions", limits.maxSessions ?? 10_000, 1),
    sessionTtlMs: whole("sessionTtlMs", limits.sessionTtlMs ?? 86_400_000, 1),
    maxIdLength: whole("maxIdLength", limits.maxIdLength ?? 512, 1),
    maxHandshakeLength: whole("maxHandshakeLength", limits.maxHandshakeLength ?? 16_384, 1),
    maxRuns: whole("maxRuns", limits.maxRuns ?? 1000, 1),
    maxVerificationsPerRun: whole("maxVerificationsPerRun", limits.maxVerificationsPerRun ?? 16, 1),
    maxSnapshotLength: whole("maxSnapshotLength", limits.maxSnapshotLength ?? 1_048_576, 1),
    maxStateLength: whole("maxStateLength", limits.maxStateLength ?? 33_554_432, 1),
    maxWatchers: whole("maxWatchers", limits.maxWatchers ?? 64, 1),
  };
  if (given !== undefined && given > resolved.timeoutMs) {
    throw new InvalidArgumentError("handlerTimeoutMs is more than the timeoutMs that is advertised");
  }
  return { limits: resolved, handlerTimeoutMs: given ?? Math.ceil(resolved.timeoutMs * 0.9) };
};
