import { defineLimits, type LimitsOf } from "@harnesskit/wire";
import { maxMessageDepth } from "@harnesskit/wire/json";

/** What one shell sends, takes, and waits for. */
export const shellClientLimits = defineLimits({
  /** Bytes of a request as JSON; then `invalid_request`. */
  maxRequestBytes: 4 * 1024 * 1024,
  /** Bytes of a response as JSON; then `invalid_response`. */
  maxResponseBytes: 4 * 1024 * 1024,
  /** How deep a request or a response may nest. */
  maxDepth: { default: maxMessageDepth, max: 256 },
  /** Directives of one response; one with more is `invalid_response`. */
  maxDirectives: 256,
  /** Directives of a parallel group that run at one time. */
  maxParallel: 8,
  /** Answers to approvals that one call sends by itself; further questions stay pending. */
  maxFollowUps: 16,
  /** How long an executor may take. */
  executorTimeoutMs: 30_000,
  /** How long `approve` may take. */
  approvalTimeoutMs: 600_000,
});
export type ShellClientLimits = LimitsOf<typeof shellClientLimits>;
