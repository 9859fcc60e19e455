import { defaultRestartPolicy, type RestartPolicy } from "@harnesskit/protocol/runtime";
import { defined } from "@harnesskit/wire/json";
import type { CoreTimes } from "../core-limits.ts";
import type { AgentExit, AgentReason } from "./errors.ts";

/** How an agent is started again, every field with its value. */
type RestartSettings = Required<{
  readonly [Field in keyof RestartPolicy]: NonNullable<RestartPolicy[Field]>;
}>;

/** The settings of an agent: what the core's owner says holds before what the manifest says. */
export const restartSettings = (
  owner: RestartPolicy | undefined,
  manifest: RestartPolicy | undefined,
): RestartSettings => {
  const settings = { ...defaultRestartPolicy, ...defined(manifest ?? {}), ...defined(owner ?? {}) };
  const { initial_backoff_ms: first, max_backoff_ms: longest } = settings;
  return { ...settings, initial_backoff_ms: Math.min(first, longest) };
};

/**
 * `stopped`: it was stopped, or its policy does not restart it. `starting`: from the start of the process to the first
 * registration of tools. `ready`: it serves. `unhealthy`: it runs, but it lost its session or missed heartbeats, or it
 * reports so itself. `stopping`: from the request to end it until nothing of it is left. `backoff`: it waits for its
 * next start. `crash_loop`: it was started too often and given up; a start by hand leaves this state.
 */
export type AgentPhase =
  | "stopped"
  | "starting"
  | "ready"
  | "unhealthy"
  | "stopping"
  | "backoff"
  | "crash_loop";

/** What an agent's supervision knows. Immutable. */
export interface Supervision {
  readonly phase: AgentPhase;
  /** Since when, by `elapsedMs` of the clock. */
  readonly sinceMs: number;
  /** When `deadline` is due. */
  readonly deadlineMs?: number | undefined;
  /** What led here, unless it was asked for. */
  readonly reason?: AgentReason | undefined;
  /** It has a session; in the phases in which it has a process. */
  readonly connected: boolean;
  /** Tools were registered in this run. */
  readonly registered: boolean;
  /** When this run was ready first. */
  readonly readyAtMs?: number | undefined;
  /** The running attempt was asked for by the caller, not by the policy. */
  readonly byHand: boolean;
  /** How far the ending of the process is. */
  readonly ending?: "draining" | "leaving" | "terminating" | "killing" | undefined;
  /** What follows the ending. */
  readonly next: "rest" | "start" | "policy";
  /** The run counts as a failure for the policy, however the process ended. */
  readonly failed: boolean;
  /** Restarts in a row without a stable run. */
  readonly failures: number;
  /** When the policy's last restarts were decided; no more than `maxBurst`. */
  readonly restartsMs: readonly number[];
  /** Starts by the policy since the last one by hand. */
  readonly restarts: number;
}

export type SupervisionEvent =
  /** It is to run, after what runs has ended. Also leaves a `crash_loop`. */
  | { readonly type: "restart" }
  /** It is to end: when its calls are done, or at once. */
  | { readonly type: "stop"; readonly atOnce?: boolean }
  /** No process could be made. */
  | { readonly type: "start_failed"; readonly reason: AgentReason }
  | { readonly type: "connected" }
  | { readonly type: "registered" }
  | {
      readonly type: "health";
      readonly status: "ok" | "degraded" | "unhealthy";
      readonly message?: string | undefined;
    }
  | { readonly type: "disconnected"; readonly message: string }
  /** Its calls are done. */
  | { readonly type: "drained" }
  /** The agent's own process has ended. */
  | { readonly type: "exited"; readonly exit: AgentExit }
  /** Nothing of the run is left. `reason` is better than the exit. `hasRun` is false where its command could not be run. */
  | {
      readonly type: "gone";
      readonly exit: AgentExit;
      readonly reason?: AgentReason | undefined;
      readonly hasRun?: boolean;
    }
  | { readonly type: "deadline" };

/**
 * `drain`: report when the last call is done. `goodbye`: end the session. `terminate`: end it if it is still there, and
 * send SIGTERM. `kill`: the same with SIGKILL.
 */
export type SupervisionAction = "spawn" | "drain" | "goodbye" | "terminate" | "kill";

export type SupervisionSettings = Pick<
  CoreTimes,
  | "startTimeoutMs"
  | "reconnectTimeoutMs"
  | "unhealthyTimeoutMs"
  | "drainTimeoutMs"
  | "goodbyeGraceMs"
  | "stopGraceMs"
> & { readonly restart: RestartSettings };

export interface SupervisionContext {
  readonly nowMs: number;
  /** From 0 to 1. */
  readonly random: number;
  readonly settings: SupervisionSettings;
}

export interface SupervisionStep {
  readonly state: Supervision;
  readonly action?: SupervisionAction | undefined;
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

/** Into another phase, without the deadline and the reason of the one before. */
export const enterPhase = (
  state: Supervision,
  phase: AgentPhase,
  { nowMs }: SupervisionContext,
  change: Partial<Supervision> = {},
): Supervision => ({
  ...state,
  sinceMs: phase === state.phase ? state.sinceMs : nowMs,
  deadlineMs: undefined,
  reason: undefined,
  ...change,
  phase,
});
