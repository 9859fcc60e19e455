/** The version that a handshake names. */
export const AHP_VERSION = "2.4";

/** What a harness enforces and a client obeys unless the handshake said otherwise. */
export const defaultAhpLimits = {
  /** Time for one request, in milliseconds. */
  timeout_ms: 10_000,
  /** Events of one batch. */
  batch_size: 100,
  /** The greatest `depth` of an event. */
  max_depth: 10,
} as const;
