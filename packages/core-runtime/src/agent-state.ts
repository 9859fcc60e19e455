import type { AgentHeartbeat } from "@harnesskit/protocol/runtime";
import type { AgentStatus } from "./session.ts";

/** How an agent is. */
export interface SessionHealth {
  readonly agentId: string;
  /** `disconnected`: it has no session. */
  readonly status: AgentStatus | "disconnected";
  readonly sessionId?: string | undefined;
  readonly reason?: string | undefined;
}

/** An agent with a session. */
export interface AgentInfo {
  readonly agentId: string;
  readonly agentVersion: string;
  readonly sessionId: string;
  readonly launchId: string;
  readonly status: AgentStatus;
  /** In milliseconds since the epoch. */
  readonly connectedAt: number;
  /** What the agent says it can do. */
  readonly capabilities: readonly string[];
  readonly sdk?: { readonly name: string; readonly version: string } | undefined;
  readonly tools: number;
  /** What its last heartbeat says: how long it runs, and how many calls. Absent before the first. */
  readonly heartbeat?: Pick<AgentHeartbeat["payload"], "uptime_ms" | "inflight_calls"> | undefined;
  /** Calls that it runs, and calls that wait for it. */
  readonly inflight: number;
  readonly waiting: number;
}
