import { type AhpEvent, type AhpEventType, ahpEvents, type HandshakeResult } from "@harnesskit/protocol/ahp";
import { AhpFailure } from "./errors.ts";
import { type HarnessLimits, toHarnessLimits } from "./limits.ts";

/** Whether the harness says that it decides events of this type. They are sent in any case; gates need not be said. */
export const isAdvertised = (harness: HandshakeResult | undefined, eventType: AhpEventType): boolean =>
  !ahpEvents[eventType].specialised || (harness?.harness_info.capabilities.includes(eventType) ?? false);

const checkDepth = ({ depth, event_type }: AhpEvent, { maxDepth }: HarnessLimits): void => {
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
