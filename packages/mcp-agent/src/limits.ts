import { agentEnvironment, defaultRuntimeLimits } from "@harnesskit/protocol/runtime";
import { defineLimits, type LimitsOf } from "@harnesskit/wire";

/** What an MCP server may use at the most. */
export const mcpLimits = defineLimits({
  /** Tools that are read from a server's list; further ones are not offered. */
  maxTools: { default: 256, max: 1024 },
  /** Pages of one list. */
  maxListPages: 64,
  /** Characters of a tool's description; a tool with a longer one is not offered. */
  maxDescriptionLength: 16_384,
  /** Bytes of one message of the server. */
  maxMessageBytes: 8 * 1024 * 1024,
  /** Items of one result's content; the number of those left out is said in `omitted_items`. */
  maxContentItems: 256,
  /**
   * Characters of base64 of the images, sounds and binary resources of one result; of what exceeds it only the kind and size are
   * passed on. An agent that a core started takes an eighth of the core's frame limit.
   */
  maxBinaryLength: 512 * 1024,
  /** Characters of the message of a tool that failed. */
  maxErrorLength: 4000,
  /** Messages of one connection that are not valid, after which it is closed. */
  maxInvalidMessages: 100,
  /** Reports in a minute that are passed on; further ones are only counted. */
  maxReports: 50,
  /** Bytes that may wait for a server that reads slowly. */
  maxBufferedBytes: 16 * 1024 * 1024,
});

export type McpLimits = LimitsOf<typeof mcpLimits>;

/** Times of an MCP server, in milliseconds. */
export const mcpTimes = defineLimits({
  /** How long a server may take to start, which may include a download (`npx -y`), and to answer `initialize`. */
  connectTimeoutMs: 30_000,
  /** How long a program may take to answer `server/discover` before it is asked what servers of before 2026-07-28 are asked. */
  discoverTimeoutMs: 2000,
  /** How long it may take to answer one page of `tools/list`. */
  listTimeoutMs: 30_000,
  /** How long a call may take without progress; a call's own time may be shorter. */
  callTimeoutMs: 600_000,
  /** How long `run` waits for the server before it registers what there is: less than a core waits for a hello. */
  startWaitMs: { default: 7000, min: 0 },
  /** The first wait before a server that was lost is started again; it doubles. */
  initialBackoffMs: 200,
  /** The longest wait. */
  maxBackoffMs: 30_000,
  /** Time of running after which the wait begins small again. */
  stableAfterMs: 30_000,
  /** The least time between two readings of the list. */
  minListIntervalMs: { default: 1000, min: 0 },
});

export type McpTimes = LimitsOf<typeof mcpTimes>;

/** The limits of an agent; without another word, the media of a result are an eighth of the frame limit of the core that started it. */
export const limitsUnder = (
  env: Readonly<Record<string, string | undefined>>,
  given: Partial<McpLimits> | undefined,
): McpLimits => {
  const frameBytes = Number(env[agentEnvironment.maxFrameBytes]) || defaultRuntimeLimits.max_frame_bytes;
  return mcpLimits.resolve({ maxBinaryLength: Math.floor(frameBytes / 8), ...given });
};

/** Characters of base64 of a result that failed: it goes in one message of the call's stream, of which a core holds 256 KiB. */
export const maxFailedBinaryLength = 192 * 1024;

/** The limits of the agent that serves the core: beside its media a result has texts. */
export const agentLimitsOf = ({ maxBinaryLength }: McpLimits) => ({
  maxToolOutputBytes: Math.max(defaultRuntimeLimits.max_tool_output_bytes, 2 * maxBinaryLength),
  maxStreamChunkBytes: maxFailedBinaryLength + 32 * 1024,
});

/** The times among the options of an agent. */
export const timesOf = (options: { readonly [Name in keyof McpTimes]?: number | undefined }): McpTimes => {
  const names = Object.keys(mcpTimes.defaults) as (keyof McpTimes)[];
  const times = Object.fromEntries(names.map((name) => [name, options[name]])) as Partial<McpTimes>;
  return mcpTimes.resolve(times, "options");
};
