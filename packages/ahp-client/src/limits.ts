import { defaultAhpLimits, type HarnessConfig } from "@harnesskit/protocol/ahp";
import { InvalidArgumentError } from "@harnesskit/wire";

/** What one client may use at the most. */
export interface AhpClientLimits {
  /** Calls that wait for answers, or for a connection; one more is refused with `overloaded`. @default 256 */
  readonly maxInFlight: number;
  /** Notifications that wait to be sent, the ones in the transport's hands among them. @default 1000 */
  readonly maxBufferedNotifications: number;
  /** Bytes of these, as JSON. @default 4194304 (4 MiB) */
  readonly maxBufferedBytes: number;
  /** The longest deadline that a harness's `timeout_ms` can make. @default 600000 (10 min) */
  readonly maxTimeoutMs: number;
}

const defaultClientLimits: AhpClientLimits = {
  maxInFlight: 256,
  maxBufferedNotifications: 1000,
  maxBufferedBytes: 4 * 1024 * 1024,
  maxTimeoutMs: 600_000,
};

/** Fills in the defaults. Throws `invalid_argument` for anything but positive integers. */
export const resolveLimits = (given: Partial<AhpClientLimits>): AhpClientLimits => {
  const limits: { -readonly [K in keyof AhpClientLimits]: AhpClientLimits[K] } = { ...defaultClientLimits };
  for (const name of Object.keys(limits) as (keyof AhpClientLimits)[]) {
    const value = given[name] ?? defaultClientLimits[name];
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new InvalidArgumentError(`${name} is a positive integer`);
    }
    limits[name] = value;
  }
  return limits;
};

/** What the harness allows: what it advertised, else what the protocol says. */
export interface HarnessLimits {
  readonly timeoutMs: number;
  readonly batchSize: number;
  readonly maxDepth: number;
}

/** A negative limit says nothing that could be kept to. */
export const usable = (limit: number | undefined): number | undefined =>
  limit === undefined || limit < 0 ? undefined : limit;

export const toHarnessLimits = (config: HarnessConfig = {}): HarnessLimits => ({
  timeoutMs: usable(config.timeout_ms) ?? defaultAhpLimits.timeout_ms,
  batchSize: usable(config.batch_size) ?? defaultAhpLimits.batch_size,
  maxDepth: usable(config.max_depth) ?? defaultAhpLimits.max_depth,
});
