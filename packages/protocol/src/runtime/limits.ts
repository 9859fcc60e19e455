/** The version that every message carries in `v`. */
export const RUNTIME_PROTOCOL_VERSION = 1;

/** What both sides enforce unless it is configured otherwise (section 2.2). */
export const defaultRuntimeLimits = {
  /** Bytes of one frame's JSON. */
  max_frame_bytes: 4 * 1024 * 1024,
  /** Calls that one agent runs at once. */
  max_inflight_requests: 256,
  /** Bytes of one call's `input` as JSON. */
  max_tool_input_bytes: 1024 * 1024,
  /** Bytes of one result's `output` as JSON. */
  max_tool_output_bytes: 1024 * 1024,
} as const;

/** How a core tells an agent where it is (section 5.2): the names of environment variables. */
export const agentEnvironment = {
  /** Path of the core's Unix socket. */
  socket: "HARNESS_AGENT_SOCKET",
  /** The session token, good for one `agent.hello`. Secret. */
  token: "HARNESS_SESSION_TOKEN",
  /** Marks every process of one launch, so that the core finds those that left the process group. Not secret. */
  launchId: "HARNESS_LAUNCH_ID",
  /** How often the core will want a heartbeat, in milliseconds; `core.welcome` says what holds. Not secret. */
  heartbeatIntervalMs: "HARNESS_HEARTBEAT_INTERVAL_MS",
  /** Bytes of the largest frame that the core takes and sends. Not secret. */
  maxFrameBytes: "HARNESS_MAX_FRAME_BYTES",
} as const;
