import type { AgentExit, AgentReason } from "./errors.ts";
import type { RestartSettings } from "./restart-policy.ts";

/**
 * `stopped`: nobody wants it to run, or its policy lets it rest. `starting`: from the start of the process to the first
 * registration of tools. `ready`: it serves. `unhealthy`: it runs, but its session is gone or its heartbeats are, or it
 * says so itself. `stopping`: from the wish to end it until nothing of it is left. `backoff`: it waits for its next start.
 * `crash_loop`: it was started too often and given up; a start by hand leaves this state.
 */
export type AgentPhase =
  | "stopped"
  | "starting"
  | "ready"
  | "unhealthy"
  | "stopping"
  | "backoff"
  | "crash_loop";

/** What an agent's supervision knows. Never changed, only followed by another. */
export interface Supervision {
  readonly phase: AgentPhase;
  /** Since when, in milliseconds of the clock. */
  readonly sinceMs: number;
  /** When `deadline` is due. */
  readonly deadlineMs?: number | undefined;
  /** What led here, where it was no wish. */
  readonly reason?: AgentReason | undefined;
  /** The session is there; in the phases in which a process is. */
  readonly connected: boolean;
  /** Tools were registered in this run. */
  readonly registered: boolean;
  /** When this run came to serve. */
  readonly readyAtMs?: number | undefined;
  /** The running attempt was asked for by somebody and not by the policy. */
  readonly byHand: boolean;
  /** How far the ending of the process is. */
  readonly ending?: "draining" | "leaving" | "terminating" | "killing" | undefined;
  /** What follows the ending. */
  readonly next: "rest" | "start" | "policy";
  /** Whether the policy is to take the run for a failure, however the process ended. */
  readonly failed: boolean;
  /** Restarts in a row without a stable run. */
  readonly failures: number;
  /** When the policy's last restarts were decided; no more than `maxBurst`. */
  readonly restartsMs: readonly number[];
  /** Starts by the policy since the last one by hand. */
  readonly restarts: number;
}

export type SupervisionEvent =
  /** Somebody wants it to run. Also leaves a `crash_loop`. */
  | { readonly type: "start" }
  /** Somebody wants it to end and to run again. */
  | { readonly type: "restart" }
  /** Somebody wants it to rest: when its calls are done, or at once. */
  | { readonly type: "stop"; readonly atOnce?: boolean }
  /** There is no process: it could not be made. */
  | { readonly type: "start_failed"; readonly reason: AgentReason }
  | { readonly type: "connected" }
  | { readonly type: "registered" }
  | { readonly type: "health"; readonly status: "ok" | "degraded" | "unhealthy"; readonly message?: string }
  /** With `retryAfterMs` it was told to come back then. */
  | { readonly type: "disconnected"; readonly message: string; readonly retryAfterMs?: number }
  /** Its calls are done. */
  | { readonly type: "drained" }
  /** The agent's own process has ended. */
  | { readonly type: "exited"; readonly exit: AgentExit }
  /** Nothing of the run is left. `reason` says better than the exit why it ended. */
  | { readonly type: "gone"; readonly exit: AgentExit; readonly reason?: AgentReason }
  | { readonly type: "deadline" };

/**
 * What is to be done. `drain`: tell when the last call is done. `goodbye`: end the session in good order. `terminate`: end
 * it if it is still there, and send SIGTERM. `kill`: the same with SIGKILL.
 */
export type SupervisionAction = "spawn" | "drain" | "goodbye" | "terminate" | "kill";

export interface SupervisionSettings {
  readonly restart: RestartSettings;
  readonly connectTimeoutMs: number;
  readonly registerTimeoutMs: number;
  readonly reconnectTimeoutMs: number;
  readonly unhealthyTimeoutMs: number;
  readonly drainTimeoutMs: number;
  readonly goodbyeGraceMs: number;
  readonly stopGraceMs: number;
}

export interface SupervisionContext {
  readonly nowMs: number;
  /** From 0 to 1. */
  readonly random: number;
  readonly settings: SupervisionSettings;
}

export interface SupervisionStep {
  readonly state: Supervision;
  readonly action?: SupervisionAction;
}

export const initialSupervision = (nowMs: number): Supervision => ({
  phase: "stopped",
  sinceMs: nowMs,
  connected: false,
  registered: false,
  byHand: false,
  next: "policy",
  failed: false,
  failures: 0,
  restartsMs: [],
  restarts: 0,
});
