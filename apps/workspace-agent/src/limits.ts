import { InvalidArgumentError } from "@harnesskit/wire";

/** The longest time a command may ask for, in milliseconds. */
export const maxCommandTimeoutMs = 600_000;
/** Characters of the longest glob pattern. */
export const maxGlobLength = 1000;
/** Characters of the longest search pattern. */
export const maxPatternLength = 1000;

/** Every bound of the workspace tools. All are positive whole numbers. */
export interface WorkspaceToolsLimits {
  /** Time for a command that names none, in milliseconds, at most 600 000. @default 120000 */
  commandTimeoutMs: number;
  /** Time between SIGTERM and SIGKILL when a command is stopped, in milliseconds. @default 2000 */
  killGraceMs: number;
  /** Bytes kept of each of stdout and stderr: the first and the last half. @default 65536 */
  maxOutputBytes: number;
  /** Bytes of each of stdout and stderr passed to the log while a command runs. @default 1048576 */
  maxStreamedBytes: number;
  /** Bytes of text that one read returns. @default 262144 */
  maxReadBytes: number;
  /** Bytes of the largest file that read looks into. @default 268435456 */
  maxReadableFileBytes: number;
  /** Bytes of the largest content that write takes and the largest file that edit changes. @default 4194304 */
  maxWriteBytes: number;
  /** Characters of a preview. @default 65536 */
  maxPreviewLength: number;
  /** Paths that one glob returns. @default 1000 */
  maxGlobPaths: number;
  /** Matches that one grep returns. @default 200 */
  maxGrepMatches: number;
  /** Characters kept of a matched line. @default 500 */
  maxGrepLineLength: number;
  /** Bytes of the largest file that grep looks into. @default 4194304 */
  maxGrepFileBytes: number;
  /** Files that one glob or grep looks at. @default 100000 */
  maxSearchedFiles: number;
  /** Time for one glob or grep, in milliseconds. @default 30000 */
  searchTimeoutMs: number;
}

/** The limits that hold where an option is left out. */
export const defaultLimits: Readonly<WorkspaceToolsLimits> = Object.freeze({
  commandTimeoutMs: 120_000,
  killGraceMs: 2_000,
  maxOutputBytes: 64 * 1024,
  maxStreamedBytes: 1024 * 1024,
  maxReadBytes: 256 * 1024,
  maxReadableFileBytes: 256 * 1024 * 1024,
  maxWriteBytes: 4 * 1024 * 1024,
  maxPreviewLength: 64 * 1024,
  maxGlobPaths: 1_000,
  maxGrepMatches: 200,
  maxGrepLineLength: 500,
  maxGrepFileBytes: 4 * 1024 * 1024,
  maxSearchedFiles: 100_000,
  searchTimeoutMs: 30_000,
});

/** The limits with the defaults filled in. Throws `InvalidArgumentError` `invalid_argument` for a value that is no limit. */
export function resolveLimits(given: Partial<WorkspaceToolsLimits>): Readonly<WorkspaceToolsLimits> {
  const limits: WorkspaceToolsLimits = { ...defaultLimits };
  for (const name of Object.keys(defaultLimits) as (keyof WorkspaceToolsLimits)[]) {
    const value = given[name];
    if (value === undefined) continue;
    if (!Number.isSafeInteger(value) || value < 1)
      throw new InvalidArgumentError(`${name} is not a positive whole number`);
    limits[name] = value;
  }
  if (limits.commandTimeoutMs > maxCommandTimeoutMs)
    throw new InvalidArgumentError(`commandTimeoutMs is above ${maxCommandTimeoutMs}`);
  return limits;
}
