import { defineLimits, type LimitsOf } from "@harnesskit/wire";

const dayMs = 86_400_000;
const anyTime = { max: Number.MAX_SAFE_INTEGER };

export const approvalLimits = defineLimits({
  /** Records in all; the oldest that have ended go first. */
  maxRecords: 10_000,
  /** Records that wait for an answer, for their asker or for an outcome; another is `store_full`. */
  maxOpen: 1000,
  /** The same for one session of one agent, so that one agent cannot fill the inbox. */
  maxOpenPerSession: 100,
  /** Ended records, and grants that are over, are removed this long after their last change. */
  retentionMs: { default: 30 * dayMs, ...anyTime },
  /** UTF-8 bytes of a question as JSON. */
  maxQuestionBytes: 1_048_576,
  /** How long a question waits for its answer: the default and the longest. */
  answerWithinMs: { default: dayMs, ...anyTime },
  /** How long an answer waits for its asker. */
  useWithinMs: { default: 3_600_000, ...anyTime },
  /** How long a claim waits for its outcome before it is ambiguous: the default and the longest. */
  reportWithinMs: { default: 3_600_000, ...anyTime },
  /** Grants in all; those that are over go first, another is `store_full`. */
  maxGrants: 1000,
  /** How long a grant holds: the default and the longest. */
  grantMs: { default: 90 * dayMs, ...anyTime },
  /** Records of one page. */
  maxPage: 200,
  /** Watchers at a time; another is `store_full`. */
  maxWatchers: 100,
  /** How often a watcher looks for changes of other processes, and for questions that have expired. */
  watchPollMs: 250,
});
export type ApprovalLimits = LimitsOf<typeof approvalLimits>;
