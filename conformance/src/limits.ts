import { defineLimits, type LimitsOf } from "@harnesskit/wire";

/** The limits of a run. */
export const conformanceLimits = defineLimits({
  /** How long a step waits for the target, unless it says otherwise. */
  withinMs: 2000,
  /** How long a target may take to start, to accept a connection, or to connect. */
  startTimeoutMs: 10_000,
  /** How long a target may take to end before it is killed. */
  stopTimeoutMs: 2000,
  /** How long a scenario may take; what it did not reach by then is not judged. */
  scenarioTimeoutMs: 40_000,
  /** Waits in vain after which a scenario begins again without them. */
  maxUnmetWaits: 6,
  /** How often a scenario may begin. */
  maxAttempts: 4,
  /** Scenarios at the same time. */
  maxParallel: 4,
  /** Bytes of a message that a target may send. */
  maxMessageBytes: 16_777_216,
  /** Messages that a connection keeps; a target that sends more is cut off. */
  maxMessages: 20_000,
  /** Bytes of the target's log that a report keeps. */
  maxLogBytes: 16_384,
  /** Lines of a scenario's transcript. */
  maxTranscript: 400,
  /** Characters of a message in a report. */
  maxShownLength: 600,
});

export type ConformanceLimits = LimitsOf<typeof conformanceLimits>;
