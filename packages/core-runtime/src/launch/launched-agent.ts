import type { AgentStatus } from "../session.ts";
import type { AgentExit, AgentReasonCode } from "./errors.ts";
import type { AgentPhase } from "./supervision.ts";

/** An agent that a core runs: its process and its session in one. */
export interface LaunchedAgent {
  readonly agentId: string;
  /** `disconnected`: it has no session. */
  readonly status: AgentStatus | "disconnected";
  readonly sessionId?: string | undefined;
  readonly reason?: string | undefined;
  /** Where its manifest is. */
  readonly directory: string;
  readonly state: AgentPhase;
  /** Since when it is in this state, in milliseconds since the epoch. */
  readonly sinceMs: number;
  /** What led to this state, unless it was asked for; `reason` says it for people. */
  readonly reasonCode?: AgentReasonCode | undefined;
  /** Starts by the policy since the last one by hand. */
  readonly restarts: number;
  /** When the next one is due; in `backoff`. */
  readonly nextStartMs?: number | undefined;
  /** How the last process that ended did so. */
  readonly lastExit?: AgentExit | undefined;
  /**
   * While it does not run because it failed: the last line of its standard error that names an error, or else the last one, of
   * at most 300 characters. The agent wrote it; secrets, and what is invisible or misleading, are written otherwise.
   */
  readonly errorLine?: string | undefined;
  /** The running process. */
  readonly pid?: number | undefined;
  readonly launchId?: string | undefined;
  readonly agentVersion?: string | undefined;
  /** The tools that it has registered now. */
  readonly toolIds: readonly string[];
  /** Of the manifest by which it runs. */
  readonly manifestHash: string;
}
