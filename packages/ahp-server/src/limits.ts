import { defaultAhpLimits } from "@harnesskit/protocol/ahp";
import { checkNumber, defineLimits, InvalidArgumentError, type LimitsOf } from "@harnesskit/wire";

export const ahpServerLimits = defineLimits({
  /** Time for one request, in milliseconds; a batch is one. @default 10000, or `handlerTimeoutMs` where that is more */
  timeoutMs: defaultAhpLimits.timeout_ms,
  /** Events of one batch. @default 100 */
  batchSize: defaultAhpLimits.batch_size,
  /** The greatest `depth` of an event. @default 10 */
  maxDepth: { default: defaultAhpLimits.max_depth, min: 0 },
  /** Messages of one connection that are handled or unsent; then the connection is not read. @default 1024 */
  maxPendingPerConnection: 1024,
  /** Messages that wait or are handled, from all senders; others are refused with -32603, `overloaded`. @default 16384 */
  maxPending: 16_384,
  /** Events of one batch that are decided at the same time. @default 16 */
  maxConcurrentBatchEvents: 16,
  /** Handshakes of exchanges that are remembered of one credential; the one used longest ago goes first. @default 1000 */
  maxSessions: 1000,
  /** Characters of `session_id`, `agent_id` and `run_id`. @default 512 */
  maxIdLength: 512,
  /** Characters of all strings of a handshake. @default 16384 */
  maxHandshakeLength: 16_384,
  /** Runs in the state; the one that finished first goes first, else the one updated longest ago. @default 1000 */
  maxRuns: 1000,
  /** Verification attempts that are kept of one run. @default 16 */
  maxVerificationsPerRun: 16,
  /** Characters of one `run_lifecycle`, `task_list` or `verification`, about as JSON. @default 1048576 */
  maxSnapshotLength: 1_048_576,
  /** Characters of all snapshots in the state; runs go as with `maxRuns`. @default 33554432 */
  maxStateLength: 33_554_432,
});

/** What agents may ask of a harness, and what it keeps. The first three are advertised in the handshake. */
export type AhpServerLimits = LimitsOf<typeof ahpServerLimits>;

/** The limits with their defaults, and the time for one request. Throws `invalid_argument`. */
export const resolveLimits = (
  overrides: Partial<AhpServerLimits> = {},
  handlerTimeoutMs?: number,
): { readonly limits: AhpServerLimits; readonly handlerTimeoutMs: number } => {
  const given =
    handlerTimeoutMs === undefined ? undefined : checkNumber("handlerTimeoutMs", handlerTimeoutMs);
  const timeoutMs = overrides.timeoutMs ?? Math.max(ahpServerLimits.defaults.timeoutMs, given ?? 0);
  const limits = ahpServerLimits.resolve({ ...overrides, timeoutMs });
  if (given !== undefined && given > limits.timeoutMs) {
    throw new InvalidArgumentError(
      `handlerTimeoutMs must be at most limits.timeoutMs, which is advertised: got ${given}, above ${limits.timeoutMs}`,
    );
  }
  return { limits, handlerTimeoutMs: given ?? Math.ceil(limits.timeoutMs * 0.9) };
};
