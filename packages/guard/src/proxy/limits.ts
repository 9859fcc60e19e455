import { defineLimits, type LimitsOf } from "@harnesskit/wire";

/** Bounds of a proxy between a client and a server. Times are in milliseconds. */
export const proxyLimits = defineLimits({
  /** Calls that are judged or run at one time; one more is refused. */
  maxCalls: 256,
  /** Other requests of the client that the proxy has to recognise the answers of. */
  maxRequests: 1024,
  /** Sessions, tool calls and terminals that an ACP proxy follows; the oldest is forgotten. */
  maxFollowed: 1024,
  /** How long a call waits for a decision. */
  holdMs: { default: 300_000, max: 86_400_000 },
  /** The same for a client that did not ask for progress, and may give up after a minute. */
  quietHoldMs: 45_000,
  /** When the first notice of progress is sent for a call that waits. */
  progressAfterMs: 2000,
  /** The time between further ones. */
  progressEveryMs: 10_000,
  /** Messages of one side that are not valid, after which the connection is closed. */
  maxInvalidMessages: 100,
  /** Bytes of a result, as JSON, that are reported to the harness; of a larger one the beginning. */
  maxReportBytes: 64 * 1024,
});
export type ProxyLimits = LimitsOf<typeof proxyLimits>;

/** Bytes of one message of MCP: more than the official SDKs take, so that they decide about large results. */
export const maxProxyMessageBytes: number = 32 * 1024 * 1024;

/** Bytes of one message of ACP, whose prompts have images in them. */
export const maxAcpMessageBytes: number = 32 * 1024 * 1024;
