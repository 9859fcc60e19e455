import { defineLimits, type LimitsOf } from "@harnesskit/wire";

/** The longest time a command may ask for, in milliseconds. */
export const maxCommandTimeoutMs = 600_000;
/** Characters of the longest glob pattern. */
export const maxGlobLength = 1000;
/** Characters of the longest search pattern. */
export const maxPatternLength = 1000;

/** Every bound of the workspace tools. */
export const workspaceToolsLimits = defineLimits({
  /** Time for a command that names none, in milliseconds, at most 600 000. */
  commandTimeoutMs: { default: 120_000, max: maxCommandTimeoutMs },
  /** Time between SIGTERM and SIGKILL when a command is stopped, in milliseconds. */
  killGraceMs: 2_000,
  /** Bytes kept of each of stdout and stderr: the first and the last half. */
  maxOutputBytes: 64 * 1024,
  /** Bytes of each of stdout and stderr passed to the log while a command runs. */
  maxStreamedBytes: 1024 * 1024,
  /** Bytes of text that one read returns. */
  maxReadBytes: 256 * 1024,
  /** Bytes of the largest file that read opens. */
  maxReadableFileBytes: 256 * 1024 * 1024,
  /** Bytes of the largest content that write takes and the largest file that edit changes. */
  maxWriteBytes: 4 * 1024 * 1024,
  /** Characters of a preview. */
  maxPreviewLength: 64 * 1024,
  /** Paths that one glob returns. */
  maxGlobPaths: 1_000,
  /** Matches that one grep returns. */
  maxGrepMatches: 200,
  /** Characters kept of a matched line. */
  maxGrepLineLength: 500,
  /** Bytes of the largest file that grep searches. */
  maxGrepFileBytes: 4 * 1024 * 1024,
  /** Files that one glob looks at. */
  maxSearchedFiles: 100_000,
  /** Time for one glob or grep, in milliseconds. */
  searchTimeoutMs: 30_000,
});
export type WorkspaceToolsLimits = LimitsOf<typeof workspaceToolsLimits>;
