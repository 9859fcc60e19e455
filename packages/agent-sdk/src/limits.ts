import { defaultRuntimeLimits } from "@harnesskit/protocol/runtime";
import { InvalidArgumentError } from "@harnesskit/wire";

/** What an agent may use at the most. */
export interface AgentLimits {
  /** Calls whose tool is running, also after their result was sent; further ones fail with `tool.busy`. @default 256 */
  readonly maxInflightCalls: number;
  /** Bytes of one call's input as JSON; more fails with `tool.input_too_large`. @default 1048576 (1 MiB) */
  readonly maxToolInputBytes: number;
  /** Bytes of one output as JSON; more goes to a file or fails with `tool.output_too_large`. @default 1048576 (1 MiB) */
  readonly maxToolOutputBytes: number;
  /** Bytes of all output files at one time; the oldest are removed for a new one. @default 268435456 (256 MiB) */
  readonly maxOutputFilesBytes: number;
  /** Bytes of text in one stream message, and of one partial result; longer text is split. @default 65536 (64 KiB) */
  readonly maxStreamChunkBytes: number;
  /** Bytes that one call streams, each message counted with 64 more; then one mark, and the rest is dropped. @default 8388608 (8 MiB) */
  readonly maxStreamBytes: number;
  /** Bytes that one call's stream messages may wait while the core reads slowly; more is dropped with a mark. @default 262144 (256 KiB) */
  readonly maxStreamQueueBytes: number;
  /** Bytes handed to the channel and not yet taken by the operating system; what exceeds them waits. @default 1048576 (1 MiB) */
  readonly maxSendBytes: number;
  /** Messages that may wait for a slow core before no more of its own are read. @default 1024 */
  readonly maxWaitingReplies: number;
}

export const defaultAgentLimits: AgentLimits = {
  maxInflightCalls: defaultRuntimeLimits.max_inflight_requests,
  maxToolInputBytes: defaultRuntimeLimits.max_tool_input_bytes,
  maxToolOutputBytes: defaultRuntimeLimits.max_tool_output_bytes,
  maxOutputFilesBytes: 256 * 1024 * 1024,
  maxStreamChunkBytes: 64 * 1024,
  maxStreamBytes: 8 * 1024 * 1024,
  maxStreamQueueBytes: 256 * 1024,
  maxSendBytes: 1024 * 1024,
  maxWaitingReplies: 1024,
};

/** How deep an input's or output's own objects may nest: a message of 64 levels has two around them. */
export const maxPayloadDepth = 62;

/** The smallest `max_frame_bytes` of a core that an agent can talk within. */
export const minFrameBytes = 1024;

/** The limits with the defaults filled in. Throws `invalid_argument` for one that is no positive integer. */
export const toAgentLimits = (limits: Partial<AgentLimits> = {}): AgentLimits => {
  const merged = { ...defaultAgentLimits };
  for (const name of Object.keys(merged) as (keyof AgentLimits)[]) {
    const value = limits[name];
    if (value === undefined) continue;
    if (!Number.isSafeInteger(value) || value <= 0) {
      throw new InvalidArgumentError(`limits.${name} is a positive integer`);
    }
    merged[name] = value;
  }
  return merged;
};
