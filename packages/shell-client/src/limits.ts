import { InvalidArgumentError } from "@harnesskit/wire";

/** What one shell sends, takes, and waits for. */
export interface ShellClientLimits {
  /** Calls under way at one time; one more rejects with `overloaded`. @default 64 */
  readonly maxInFlight?: number;
  /** Characters of a request, about as JSON; then `invalid_request`. @default 4194304 */
  readonly maxRequestLength?: number;
  /** Characters of a response, about as JSON; then `invalid_response`. @default 4194304 */
  readonly maxResponseLength?: number;
  /** How deep a request or a response may nest. @default 64 */
  readonly maxDepth?: number;
  /** Characters of every id. @default 512 */
  readonly maxIdLength?: number;
  /** Attachments of one request. @default 64 */
  readonly maxAttachments?: number;
  /** Directives of one response; one with more is `invalid_response`. @default 256 */
  readonly maxDirectives?: number;
  /** Denied features of one response; one with more is `invalid_response`. @default 256 */
  readonly maxDenials?: number;
  /** Directives of a parallel group that run at one time. @default 8 */
  readonly maxParallel?: number;
  /** Answers to approvals that one call sends by itself; further questions stay pending. @default 16 */
  readonly maxFollowUps?: number;
  /** How long an executor may take, in milliseconds. @default 30000 */
  readonly executorTimeoutMs?: number;
  /** How long `approve` may take, in milliseconds. @default 600000 (10 min) */
  readonly approvalTimeoutMs?: number;
}

export type ResolvedLimits = Required<ShellClientLimits>;

const defaults: ResolvedLimits = {
  maxInFlight: 64,
  maxRequestLength: 4_194_304,
  maxResponseLength: 4_194_304,
  maxDepth: 64,
  maxIdLength: 512,
  maxAttachments: 64,
  maxDirectives: 256,
  maxDenials: 256,
  maxParallel: 8,
  maxFollowUps: 16,
  executorTimeoutMs: 30_000,
  approvalTimeoutMs: 600_000,
};

/** What is walked by recursion cannot be deeper than this. */
const highest: Partial<Record<string, number>> = { maxDepth: 256 };

/** No timer waits longer than this, in milliseconds. */
export const maxTimerMs = 2 ** 31 - 1;

/** Throws `invalid_argument` for what is no whole number from 1 to `max`. */
export const assertWhole = (name: string, value: number, max: number): void => {
  if (Number.isSafeInteger(value) && value >= 1 && value <= max) return;
  throw new InvalidArgumentError(`${name} is a whole number from 1 to ${max}, not ${value}`);
};

/** The limits with their defaults. Throws `invalid_argument`. */
export const resolveLimits = (limits: ShellClientLimits): ResolvedLimits => {
  const resolved: Record<string, number> = { ...defaults };
  for (const name of Object.keys(defaults)) {
    const value = limits[name as keyof ShellClientLimits];
    if (value === undefined) continue;
    assertWhole(name, value, name.endsWith("Ms") ? maxTimerMs : (highest[name] ?? Number.MAX_SAFE_INTEGER));
    resolved[name] = value;
  }
  return resolved as unknown as ResolvedLimits;
};
