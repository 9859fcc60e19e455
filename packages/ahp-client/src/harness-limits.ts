import { defaultAhpLimits, type HarnessConfig } from "@harnesskit/protocol/ahp";

/** What the harness allows: what it advertised, else what the protocol says. */
export interface AhpHarnessLimits {
  readonly timeoutMs: number;
  readonly batchSize: number;
  readonly maxDepth: number;
}

/** A negative limit says nothing that could be kept to. */
export const usable = (limit: number | undefined): number | undefined =>
  limit === undefined || limit < 0 ? undefined : limit;

export const toHarnessLimits = (config: HarnessConfig = {}): AhpHarnessLimits => ({
  timeoutMs: usable(config.timeout_ms) ?? defaultAhpLimits.timeout_ms,
  batchSize: usable(config.batch_size) ?? defaultAhpLimits.batch_size,
  maxDepth: usable(config.max_depth) ?? defaultAhpLimits.max_depth,
});
