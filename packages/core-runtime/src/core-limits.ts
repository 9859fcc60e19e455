import { defaultRuntimeLimits } from "@harnesskit/protocol/runtime";
import { defineLimits, type LimitsOf } from "@harnesskit/wire";

/** What a core takes at the most. A manifest may ask for less, never for more. */
export const coreLimits = defineLimits({
  /** Bytes of one frame, as announced to agents; the channels enforce it. */
  maxFrameBytes: defaultRuntimeLimits.max_frame_bytes,
  /** Calls that one agent runs at once. */
  maxInFlightRequests: defaultRuntimeLimits.max_inflight_requests,
  /** Calls that wait for one agent, or for their authorization, beside those that run. */
  maxQueuedCalls: 1024,
  /** Bytes of one call's input as JSON. */
  maxToolInputBytes: defaultRuntimeLimits.max_tool_input_bytes,
  /** Bytes of one result's output as JSON. */
  maxToolOutputBytes: defaultRuntimeLimits.max_tool_output_bytes,
  /** Bytes of the details of an agent's error, and of the metrics of a result, as JSON; larger ones are left out. */
  maxErrorBytes: 64 * 1024,
  /** The longest `timeoutMs` of a call. */
  maxTimeoutMs: 60 * 60 * 1000,
  /** Stream chunks of one call that wait for their reader; then the oldest are dropped. */
  maxStreamChunks: 256,
  /** Bytes of stream chunks of one call that wait for their reader. */
  maxStreamBytes: 256 * 1024,
  /** Tools of one agent. */
  maxTools: 1024,
  /** Bytes of one tool's declaration as JSON. */
  maxToolBytes: 256 * 1024,
  /** Characters of all declarations of one agent together. */
  maxRegistryLength: 8 * 1024 * 1024,
  /** Subschemas in one schema of a tool. */
  maxSchemaNodes: 500,
  /** How deep the subschemas of one schema nest. */
  maxSchemaDepth: 32,
  /** Regular expressions in one schema of a tool. */
  maxPatterns: 64,
  /** Characters of one regular expression. */
  maxPatternLength: 1024,
  /** Steps that one validation may take. */
  maxValidationSteps: 2_000_000,
  /** Bytes of the idempotency keys and results that are remembered. */
  maxIdempotencyBytes: 16 * 1024 * 1024,
  /** Connections that have not sent their hello yet. */
  maxUnauthenticatedConnections: 64,
  /** Invalid or misplaced messages of one session, after which it is closed. */
  maxInvalidMessages: 100,
  /** Audit entries a minute that one agent can cause beside its calls; more are only counted. */
  maxAuditEventsPerMinute: 120,
  /** Characters of a line for `onOutput`; a longer one comes in parts. */
  maxOutputLineLength: 8192,
  /** Bytes of the end of each agent's standard error that are kept for errors. */
  maxStderrBytes: 8192,
});

export type CoreLimits = LimitsOf<typeof coreLimits>;

/** Times of a core, in milliseconds. */
export const coreTimes = defineLimits({
  /** How often agents must send a heartbeat. */
  heartbeatIntervalMs: 5000,
  /** Intervals without a heartbeat after which an agent is unhealthy. */
  missedHeartbeats: 3,
  /** How long a connection may take to send its hello. */
  helloTimeoutMs: 5000,
  /** How long a session token is valid. */
  tokenLifetimeMs: 60_000,
  /** How long a call may take that does not say. */
  timeoutMs: 120_000,
  /** How long an agent may take to answer a cancellation. */
  cancelGraceMs: { default: 5000, min: 0 },
  /** How long the result of a call with an idempotency key is remembered. */
  idempotencyTtlMs: 600_000,
  /** From the start of a process to its hello, and from there to its first registration of tools; a manifest may say another. */
  startTimeoutMs: { default: 10_000, min: 0 },
  /** How long a process whose session ended may take to exit before it is killed. */
  reconnectTimeoutMs: { default: 1000, min: 0 },
  /** How long an agent may be unhealthy before it is killed. */
  unhealthyTimeoutMs: { default: 5000, min: 0 },
  /** How long an agent that is stopped may take for the calls that it has. */
  drainTimeoutMs: { default: 10_000, min: 0 },
  /** How long an agent may take to exit after the goodbye before it gets SIGTERM. */
  goodbyeGraceMs: { default: 500, min: 0 },
  /** How long an agent may take to exit after SIGTERM before it is killed. */
  stopGraceMs: { default: 5000, min: 0 },
});

export type CoreTimes = LimitsOf<typeof coreTimes>;

/** The times among the options, complete. Throws `invalid_argument`. */
export const resolveTimes = (options: Partial<CoreTimes>): CoreTimes => {
  const names = Object.keys(coreTimes.defaults) as (keyof CoreTimes)[];
  return coreTimes.resolve(Object.fromEntries(names.map((name) => [name, options[name]])), "options");
};
