import { type AhpEvent, defaultAhpLimits, type HarnessConfig } from "@harnesskit/protocol/ahp";
import { AhpFailure } from "./errors.ts";

/** What the harness allows: what it advertised, else what the protocol says. */
export interface HarnessLimits {
  /** How long an answer may take, in milliseconds. */
  readonly timeoutMs: number;
  /** How many events a batch may have. */
  readonly batchSize: number;
  /** The greatest `depth` that an event may have. */
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

/** Throws `depth_exceeded` for an event that the harness does not take. */
export const assertDepth = ({ depth, event_type }: AhpEvent, { maxDepth }: HarnessLimits): void => {
  if (depth <= maxDepth) return;
  throw new AhpFailure("depth_exceeded", `${event_type} is ${depth} deep, the harness takes ${maxDepth}`);
};

/** Throws `batch_too_large` and `depth_exceeded` for a batch that the harness does not take. */
export const assertBatch = (events: readonly AhpEvent[], limits: HarnessLimits): void => {
  const { length } = events;
  if (length > limits.batchSize) {
    const text = `the batch has ${length} events, the harness takes ${limits.batchSize}`;
    throw new AhpFailure("batch_too_large", text);
  }
  for (const event of events) assertDepth(event, limits);
};
