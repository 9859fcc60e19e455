import {
  type AhpEvent,
  type AhpEventType,
  ahpEvents,
  defaultAhpLimits,
  type HandshakeResult,
  type HarnessConfig,
  type QueryResult,
  QueryResultSchema,
} from "@harnesskit/protocol/ahp";
import { AhpFailure, firstIssue } from "./errors.ts";

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

/** Whether the harness says that it decides events of this type. They are sent in any case; gates need not be said. */
export const isAdvertised = (harness: HandshakeResult | undefined, eventType: AhpEventType): boolean =>
  !ahpEvents[eventType].specialised || (harness?.harness_info.capabilities.includes(eventType) ?? false);

const checkDepth = ({ depth, event_type }: AhpEvent, { maxDepth }: AhpHarnessLimits): void => {
  if (depth <= maxDepth) return;
  throw new AhpFailure("depth_exceeded", `${event_type} is ${depth} deep, the harness takes ${maxDepth}`);
};

/** Throws `depth_exceeded` for an event that this harness does not take. */
export const checkEvent = (event: AhpEvent, harness: HandshakeResult): void =>
  checkDepth(event, toHarnessLimits(harness.config));

/** Throws `batch_too_large` and `depth_exceeded` for a batch that this harness does not take. */
export const checkBatch = (events: readonly AhpEvent[], harness: HandshakeResult): void => {
  const limits = toHarnessLimits(harness.config);
  const { length } = events;
  if (length > limits.batchSize) {
    const text = `the batch has ${length} events, the harness takes ${limits.batchSize}`;
    throw new AhpFailure("batch_too_large", text);
  }
  for (const event of events) checkDepth(event, limits);
};

/** The unchecked decisions in the answer to a batch. Throws `invalid_answer` and `decision_count`. */
export const toDecisions = (result: unknown, count: number): readonly unknown[] => {
  const { decisions } = (result ?? {}) as { readonly decisions?: unknown };
  if (!Array.isArray(decisions)) throw new AhpFailure("invalid_answer", "the answer holds no decisions");
  if (decisions.length === count) return decisions;
  throw new AhpFailure("decision_count", `${count} events were answered with ${decisions.length} decisions`);
};

/** The answer to a query. Throws `invalid_answer`. */
export const toQueryResult = (result: unknown): QueryResult => {
  const parsed = QueryResultSchema.safeParse(result);
  if (parsed.success) return parsed.data;
  const { error: cause } = parsed;
  const message = `the answer to the query is not valid: ${firstIssue(cause)}`;
  throw new AhpFailure("invalid_answer", message, { cause });
};
