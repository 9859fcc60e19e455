import { defineLimits, type LimitsOf } from "@harnesskit/wire";

/** What shells may ask of an engine, and what it keeps. */
export const shellEngineLimits = defineLimits({
  /** How long a handler may take, in milliseconds; then `engine_timeout`. @default 30000 */
  handlerTimeoutMs: 30_000,
  /** How long `authenticate` may take, in milliseconds; then `engine_timeout`. @default 10000 */
  authenticateTimeoutMs: 10_000,
  /** Handlers that run at one time, those included that took too long and have not ended; then `engine_overloaded`. @default 1024 */
  maxInFlight: 1024,
  /**
   * Requests of one channel that are not answered, or whose responses are not sent; then the channel is not read. @default 64
   */
  maxPendingPerChannel: 64,
  /** Characters of every id, and of `tenant_id` and `credential_ref` where there is no `authenticate`. @default 512 */
  maxIdLength: 512,
  /** Attachments of one request. @default 64 */
  maxAttachments: 64,
  /** Directives of one response. @default 256 */
  maxDirectives: 256,
  /** Characters of a response's content as JSON, or of an error's details. @default 1048576 */
  maxResponseLength: 1_048_576,
  /** Requests whose responses are remembered by their ids; an owner that adds one loses the oldest of its own. @default 100000 */
  maxRememberedRequests: 100_000,
  /** Characters of all remembered requests and responses as JSON, and of the ids that they are remembered by. @default 100663296 */
  maxRememberedLength: 100_663_296,
  /** How long a response is remembered, in milliseconds. @default 600000 (10 min) */
  rememberMs: 600_000,
  /** How long a continuation is valid, in milliseconds. @default 3600000 (1 h) */
  continuationMs: 3_600_000,
  /**
   * Continuations that are known to be used, until they expire; then `engine_overloaded`, because to forget one would let it
   * be used again. So many can be used within `continuationMs`, by all users together. @default 100000
   */
  maxUsedContinuations: 100_000,
  /** Runs whose data wait for their continuation; the oldest goes. @default 10000 */
  maxRuns: 10_000,
  /** Characters of the data of all runs as JSON; the oldest goes. @default 33554432 */
  maxRunDataLength: 33_554_432,
  /** Characters of a stream's previews that wait for its reader; then the stream has no more of them. @default 65536 */
  maxStreamLength: 65_536,
  /** Characters of text in one frame. @default 16384 */
  maxFrameLength: 16_384,
});

export type ShellEngineLimits = LimitsOf<typeof shellEngineLimits>;
