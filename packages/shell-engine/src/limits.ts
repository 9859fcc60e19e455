import { InvalidArgumentError } from "@harnesskit/wire";

/** What shells may ask of an engine, and what it keeps. */
export interface ShellEngineLimits {
  /** How long a handler may take, in milliseconds; then `engine_timeout`. @default 30000 */
  readonly handlerTimeoutMs?: number;
  /** How long `authenticate` may take, in milliseconds; then `engine_timeout`. @default 10000 */
  readonly authenticateTimeoutMs?: number;
  /** Handlers that run at one time, those among them that took too long and have not ended, and as many calls of `authenticate`; then `engine_overloaded`. @default 1024 */
  readonly maxInFlight?: number;
  /** Requests of one channel that are not answered, or whose responses are not sent; then the channel is not read. @default 64 */
  readonly maxPendingPerChannel?: number;
  /** Characters of a request, about as JSON; then `invalid_request`. @default 4194304 */
  readonly maxRequestLength?: number;
  /** How deep a request may nest. @default 64 */
  readonly maxDepth?: number;
  /** Characters of every id, and of `tenant_id` and `credential_ref` where there is no `authenticate`. @default 512 */
  readonly maxIdLength?: number;
  /** Attachments of one request. @default 64 */
  readonly maxAttachments?: number;
  /** Directives of one response. @default 256 */
  readonly maxDirectives?: number;
  /** Characters of what a response says, or of an error's details, about as JSON. @default 1048576 */
  readonly maxResponseLength?: number;
  /** Requests whose responses are remembered by their ids; who adds one loses the oldest of their own. @default 100000 */
  readonly maxRememberedRequests?: number;
  /** Characters of all responses that are remembered, and of the ids that they are remembered by, about as JSON. @default 67108864 */
  readonly maxRememberedLength?: number;
  /** How long a response is remembered, in milliseconds. @default 600000 (10 min) */
  readonly rememberMs?: number;
  /** How long a continuation is good, in milliseconds, unless its handler says otherwise. @default 3600000 (1 h) */
  readonly continuationMs?: number;
  /**
   * Continuations of which is known that they were used, until they expire; then `engine_overloaded`, because to forget one would
   * let it be used again. So many can be used within `continuationMs`, by all users together. @default 100000
   */
  readonly maxUsedContinuations?: number;
  /** Runs whose data wait for their continuation; the oldest of the user with most goes. @default 10000 */
  readonly maxRuns?: number;
  /** Characters of the data of all runs, about as JSON; the oldest of the user with most goes. @default 33554432 */
  readonly maxRunDataLength?: number;
}

export type ResolvedLimits = Required<ShellEngineLimits>;

const defaults: ResolvedLimits = {
  handlerTimeoutMs: 30_000,
  authenticateTimeoutMs: 10_000,
  maxInFlight: 1024,
  maxPendingPerChannel: 64,
  maxRequestLength: 4_194_304,
  maxDepth: 64,
  maxIdLength: 512,
  maxAttachments: 64,
  maxDirectives: 256,
  maxResponseLength: 1_048_576,
  maxRememberedRequests: 100_000,
  maxRememberedLength: 67_108_864,
  rememberMs: 600_000,
  continuationMs: 3_600_000,
  maxUsedContinuations: 100_000,
  maxRuns: 10_000,
  maxRunDataLength: 33_554_432,
};

const maxTimerMs = 2 ** 31 - 1;

/** The limits with their defaults. Throws `invalid_argument` for one that is no whole number from 1 on. */
export const resolveLimits = (limits: ShellEngineLimits): ResolvedLimits => {
  const resolved: Record<string, number> = { ...defaults };
  for (const name of Object.keys(defaults)) {
    const value = limits[name as keyof ShellEngineLimits];
    if (value === undefined) continue;
    const max = name.endsWith("Ms") ? maxTimerMs : Number.MAX_SAFE_INTEGER;
    if (!Number.isSafeInteger(value) || value < 1 || value > max) {
      throw new InvalidArgumentError(`${name} is a whole number from 1 to ${max}, not ${value}`);
    }
    resolved[name] = value;
  }
  return resolved as unknown as ResolvedLimits;
};
