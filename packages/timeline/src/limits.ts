import { defineLimits, type LimitsOf } from "@harnesskit/wire";

const dayMs = 86_400_000;

export const timelineLimits = defineLimits({
  /** Rows in all; the oldest go first. */
  maxRows: { default: 1_000_000, max: 100_000_000 },
  /** UTF-8 bytes of all rows with their content, about; the oldest go first. */
  maxBytes: { default: 2 ** 31, max: Number.MAX_SAFE_INTEGER },
  /** Rows are removed this long after their last change. */
  retentionMs: { default: 30 * dayMs, max: Number.MAX_SAFE_INTEGER },
  /** Rows of one page. */
  maxPage: 500,
  /** Rows that one page with a filter looks at. */
  maxScan: 20_000,
  /** Agents, sessions and rules that are counted; those seen first go first. */
  maxNames: 10_000,
});
export type TimelineLimits = LimitsOf<typeof timelineLimits>;
