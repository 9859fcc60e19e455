import { defineLimits, type LimitsOf } from "@harnesskit/wire";
import { maxMessageDepth } from "@harnesskit/wire/json";

/** What one shell sends, takes, and waits for. */
export const shellClientLimits = defineLimits({
  /** Calls in progress at one time; one more rejects with `overloaded`. */
  maxInFlight: 64,
  /** Bytes of a request as JSON; then `invalid_request`. */
  maxRequestBytes: 4 * 1024 * 1024,
  /** Bytes of a response as JSON; then `invalid_response`. */
  maxResponseBytes: 4 * 1024 * 1024,
  /** How deep a request or a response may nest. */
  maxDepth: { default: maxMessageDepth, max: 256 },
  /** Characters of every id. */
  maxIdLength: 512,
  /** Attachments of one request. */
  maxAttachments: 64,
  /** Directives of one response; one with more is `invalid_response`. */
  maxDirectives: 256,
  /** Denied features of one response; one with more is `invalid_response`. */
  maxDenials: 256,
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
