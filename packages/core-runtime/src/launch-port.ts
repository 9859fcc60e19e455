import type { AgentManifest } from "@harnesskit/protocol/runtime";

/** One start of an agent's process, as described by what started it. */
export interface Launch {
  /** Unique among the launches of a core. */
  readonly launchId: string;
  readonly agentId: string;
  /** Its permissions and limits hold for the calls of this agent. */
  readonly manifest?: AgentManifest | undefined;
}

/** Why a session is over. */
export interface DisconnectReason {
  readonly code: string;
  readonly message: string;
}

/** Receives the events of a launch. What a method throws goes to `onError`. */
export interface LaunchObserver {
  /** The agent connected with this launch's token. */
  connected(session: { readonly sessionId: string; readonly agentVersion: string }): void;
  /** The tools that the agent has now, after a registration or an unregistration. */
  registered(toolIds: readonly string[]): void;
  /** The agent's health: as its heartbeat reports, or `unhealthy` because heartbeats were missed. On change only. */
  health(status: "ok" | "degraded" | "unhealthy", reason?: string): void;
  /** The session is over. */
  disconnected(reason: DisconnectReason): void;
}

/** The right of one launch to connect. */
export interface Admission {
  /** The session token: 256 random bits as base64url, valid for one `agent.hello`. Secret. */
  readonly token: string;
  /**
   * The launch is over: its token becomes invalid, its session is closed, and its running calls settle at once with
   * `agent.lost`. Does nothing the second time.
   */
  revoke(reason?: DisconnectReason): void;
}
