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

/** The smallest `max_frame_bytes` of a core that an agent works with. */
export const minFrameBytes = 4096;
/** What envelope, ids and everything but the content take of a message at the most. */
export const envelopeBytes = 16 * 1024;
/** A result without an output fits into this: its error takes up to 48 KiB. */
export const sureFrameBytes = 64 * 1024;

/** How long the core may take to answer `agent.hello` or a registration, in milliseconds. */
export const answerTimeoutMs = 10_000;
/** How long the core may take to close after `core.goodbye` before the agent does, in milliseconds. */
export const goodbyeTimeoutMs = 5000;
