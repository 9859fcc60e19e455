import { defaultRuntimeLimits } from "@harnesskit/protocol/runtime";
import { defineLimits, type LimitsOf } from "@harnesskit/wire";

/** What an agent may use at the most. */
export const agentLimits = defineLimits({
  /** Calls whose tool is running, also after their result was sent; further ones fail with `tool.busy`. */
  maxInFlightCalls: defaultRuntimeLimits.max_inflight_requests,
  /** Bytes of one call's input as JSON; more fails with `tool.input_too_large`. */
  maxToolInputBytes: defaultRuntimeLimits.max_tool_input_bytes,
  /** Bytes of one output as JSON; more goes to a file or fails with `tool.output_too_large`. */
  maxToolOutputBytes: defaultRuntimeLimits.max_tool_output_bytes,
  /** Bytes of all output files at one time; the oldest are removed for a new one. */
  maxOutputFilesBytes: 256 * 1024 * 1024,
  /** Bytes of text in one stream message, and of one partial result; longer text is split. */
  maxStreamChunkBytes: 64 * 1024,
  /** Bytes that one call streams, each message counted with 64 more; then one mark, and the rest is dropped. */
  maxStreamBytes: 8 * 1024 * 1024,
  /** Bytes that one call's stream messages may wait while the core reads slowly; more is dropped with a mark. */
  maxStreamQueueBytes: 256 * 1024,
  /** Bytes handed to the channel and not yet taken by the operating system; what exceeds them waits. */
  maxSendBytes: 1024 * 1024,
  /** Messages that may wait for a slow core before the agent stops reading. */
  maxWaitingReplies: 1024,
});

export type AgentLimits = LimitsOf<typeof agentLimits>;

const fromZero = (milliseconds: number) => ({ default: milliseconds, min: 0, allowFraction: true });

/** Times of an agent, in milliseconds. */
export const agentTimes = defineLimits({
  /** How long an aborted tool may take to end before its result is sent without it. */
  cancelGraceMs: fromZero(2000),
  /** How long the core may take to answer `agent.hello`. */
  welcomeTimeoutMs: fromZero(10_000),
  /** How long the core may take to answer a registration. */
  registerTimeoutMs: fromZero(10_000),
  /** How long the core may take to close after `core.goodbye` before the agent does. */
  goodbyeTimeoutMs: fromZero(5000),
});

export type AgentTimes = LimitsOf<typeof agentTimes>;

/** The smallest `max_frame_bytes` of a core that an agent can work with. */
export const minFrameBytes = 1024;
