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

/** The capabilities that a harness advertises by default. */
export const defaultHarnessCapabilities = [
  "pre_action",
  "post_action",
  "pre_prompt",
  "query",
  "batch",
  "run_lifecycle",
  "task_list",
  "verification",
] as const;

/** The codes of JSON-RPC errors beside the standard ones. */
export const AhpErrorCode = {
  /** The handshake asked for another major version. */
  UnsupportedVersion: -32000,
} as const;
