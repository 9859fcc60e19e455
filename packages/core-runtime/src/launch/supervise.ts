import { backoffDelayMs } from "@harnesskit/wire/time";
import type { AgentExit, AgentReason } from "./errors.ts";
import {
  type AgentPhase,
  enterPhase,
  type Supervision,
  type SupervisionContext,
  type SupervisionEvent,
  type SupervisionStep,
} from "./supervision.ts";

/** What holds without a process. */
const noProcess = { connected: false, registered: false, ending: undefined } as const;

const exitReason = ({ code, signal }: AgentExit): AgentReason => ({
  code: "exited",
  message: signal === null ? `its process ended with code ${code}` : `its process was ended by ${signal}`,
});

const beginLaunch = (state: Supervision, context: SupervisionContext, byHand: boolean): SupervisionStep => ({
  state: enterPhase(state, "starting", context, {
    ...noProcess,
    deadlineMs: context.nowMs + context.settings.startTimeoutMs,
    readyAtMs: undefined,
    next: "policy",
    failed: false,
    byHand,
    failures: byHand ? 0 : state.failures,
    restartsMs: byHand ? [] : state.restartsMs,
    restarts: byHand ? 0 : state.restarts + 1,
  }),
  action: "spawn",
});

/** Ends the process, after its calls. */
const end = (
  state: Supervision,
  context: SupervisionContext,
  next: Supervision["next"],
): SupervisionStep => ({
  state: enterPhase(state, "stopping", context, {
    deadlineMs: context.nowMs + context.settings.drainTimeoutMs,
    ending: "draining",
    next,
  }),
  action: "drain",
});

/** Sends goodbye to a connected agent, and SIGTERM to the others. */
const leave = (state: Supervision, context: SupervisionContext): SupervisionStep => {
  if (!state.connected) return terminate(state, context);
  const deadlineMs = context.nowMs + context.settings.goodbyeGraceMs;
  return { state: { ...state, ending: "leaving", deadlineMs }, action: "goodbye" };
};

const terminate = (state: Supervision, { nowMs, settings }: SupervisionContext): SupervisionStep => {
  const deadlineMs = nowMs + settings.stopGraceMs;
  return { state: { ...state, ending: "terminating", deadlineMs }, action: "terminate" };
};

/** Ends the process by force, because it failed. */
const killFailed = (
  state: Supervision,
  context: SupervisionContext,
  reason: AgentReason,
): SupervisionStep => ({
  state: enterPhase(state, "stopping", context, { ending: "killing", failed: true, next: "policy", reason }),
  action: "kill",
});

const stopped = (
  state: Supervision,
  context: SupervisionContext,
  reason?: AgentReason | undefined,
): SupervisionStep => ({ state: enterPhase(state, "stopped", context, { ...noProcess, reason }) });

/** Without a process: what the policy says. */
const followPolicy = (
  state: Supervision,
  context: SupervisionContext,
  reason: AgentReason | undefined,
  failed: boolean,
): SupervisionStep => {
  const { nowMs, random, settings } = context;
  const { restart } = settings;
  const wanted = restart.policy === "always" || (restart.policy === "on-failure" && failed);
  if (!wanted) return stopped(state, context, reason);
  const recent = state.restartsMs.filter((at) => nowMs - at < restart.burst_window_ms);
  if (recent.length >= restart.max_burst) {
    const restarts = `${recent.length} restarts within ${restart.burst_window_ms} ms`;
    const message = `it was given up after ${restarts}: ${reason?.message ?? "it ended"}`;
    const givenUp = { code: "crash_loop" as const, message };
    return { state: enterPhase(state, "crash_loop", context, { ...noProcess, reason: givenUp }) };
  }
  const stable = state.readyAtMs !== undefined && nowMs - state.readyAtMs >= restart.stable_after_ms;
  const failures = stable ? 0 : state.failures;
  // Of the longest wait a random part, so that agents that fell together do not rise together.
  const { initial_backoff_ms: initialDelayMs, max_backoff_ms: maxDelayMs } = restart;
  const waitMs = backoffDelayMs(failures + 1, { initialDelayMs, maxDelayMs, random: () => random });
  return {
    state: enterPhase(state, "backoff", context, {
      ...noProcess,
      reason,
      deadlineMs: nowMs + Math.round(waitMs),
      failures: failures + 1,
      restartsMs: [...recent, nowMs],
    }),
  };
};

/** After the process: what was asked for meanwhile, or what the policy says. */
const next = (
  state: Supervision,
  context: SupervisionContext,
  reason: AgentReason,
  failed: boolean,
): SupervisionStep => {
  if (state.next === "start") return beginLaunch(state, context, true);
  if (state.next === "policy") return followPolicy(state, context, reason, failed);
  return stopped(state, context);
};

const hasProcess = (phase: AgentPhase): boolean =>
  phase === "starting" || phase === "ready" || phase === "unhealthy" || phase === "stopping";

const gone = (
  state: Supervision,
  event: SupervisionEvent & { type: "gone" },
  context: SupervisionContext,
) => {
  const reason = event.reason ?? (state.failed ? state.reason : undefined) ?? exitReason(event.exit);
  if (event.hasRun === false && state.byHand && state.next === "policy") {
    return stopped(state, context, reason);
  }
  return next(state, context, reason, state.failed || event.reason !== undefined || event.exit.code !== 0);
};

const startFailed = (
  state: Supervision,
  reason: AgentReason,
  context: SupervisionContext,
): SupervisionStep => {
  if (state.phase === "stopping") return next(state, context, state.reason ?? reason, true);
  if (state.phase !== "starting") return { state };
  return state.byHand ? stopped(state, context, reason) : followPolicy(state, context, reason, true);
};

const lateReason = ({ connected }: Supervision, { settings }: SupervisionContext): AgentReason =>
  connected
    ? {
        code: "register_timeout",
        message: `it did not register tools within ${settings.startTimeoutMs} ms`,
      }
    : { code: "connect_timeout", message: `it did not connect within ${settings.startTimeoutMs} ms` };

const deadline = (state: Supervision, context: SupervisionContext): SupervisionStep => {
  switch (state.phase) {
    case "starting":
      return killFailed(state, context, state.reason ?? lateReason(state, context));
    case "unhealthy":
      return killFailed(state, context, state.reason ?? { code: "unhealthy", message: "it is unhealthy" });
    case "backoff":
      return beginLaunch(state, context, false);
    case "stopping":
      if (state.ending === "draining") return leave(state, context);
      if (state.ending === "leaving") return terminate(state, context);
      return { state: { ...state, ending: "killing", deadlineMs: undefined }, action: "kill" };
    default:
      return { state };
  }
};

const stop = (state: Supervision, atOnce: boolean, context: SupervisionContext): SupervisionStep => {
  if (!hasProcess(state.phase)) {
    return { state: state.phase === "stopped" ? state : enterPhase(state, "stopped", context) };
  }
  if (atOnce && (state.phase !== "stopping" || state.ending === "draining")) {
    return leave(enterPhase(state, "stopping", context, { next: "rest" }), context);
  }
  return state.phase === "stopping" ? { state: { ...state, next: "rest" } } : end(state, context, "rest");
};

/** Whether the agent is to run, so that its session counts. */
const isWanted = ({ phase }: Supervision): boolean =>
  phase === "starting" || phase === "ready" || phase === "unhealthy";

const becomeReady = (state: Supervision, context: SupervisionContext): SupervisionStep => ({
  state: enterPhase(state, "ready", context, {
    connected: true,
    registered: true,
    readyAtMs: state.readyAtMs ?? context.nowMs,
  }),
});

const disconnected = (
  state: Supervision,
  { message }: SupervisionEvent & { type: "disconnected" },
  context: SupervisionContext,
): SupervisionStep => {
  const change = {
    connected: false,
    registered: false,
    deadlineMs: context.nowMs + context.settings.reconnectTimeoutMs,
    reason: { code: "disconnected" as const, message: `its session ended: ${message}` },
  };
  const phase = state.phase === "starting" ? "starting" : "unhealthy";
  return { state: enterPhase(state, phase, context, change) };
};

const healthChanged = (
  state: Supervision,
  { status, message = "it reports that it is unhealthy" }: SupervisionEvent & { type: "health" },
  context: SupervisionContext,
): SupervisionStep => {
  if (!state.registered) return { state };
  if (status !== "unhealthy") return state.phase === "ready" ? { state } : becomeReady(state, context);
  if (state.phase === "unhealthy") return { state };
  const deadlineMs = context.nowMs + context.settings.unhealthyTimeoutMs;
  const change = { deadlineMs, reason: { code: "unhealthy" as const, message } };
  return { state: enterPhase(state, "unhealthy", context, change) };
};

/** The next state after any event in any phase, and the action to perform. Pure. */
export const supervise = (
  state: Supervision,
  event: SupervisionEvent,
  context: SupervisionContext,
): SupervisionStep => {
  switch (event.type) {
    case "restart":
      if (state.phase === "stopping") return { state: { ...state, next: "start" } };
      return hasProcess(state.phase) ? end(state, context, "start") : beginLaunch(state, context, true);
    case "stop":
      return stop(state, event.atOnce ?? false, context);
    case "start_failed":
      return startFailed(state, event.reason, context);
    case "drained":
      return state.ending === "draining" ? leave(state, context) : { state };
    case "exited": {
      if (!hasProcess(state.phase) || state.ending === "killing") return { state };
      const wanted = state.phase === "stopping";
      const change = {
        ending: "killing" as const,
        connected: false,
        reason: wanted ? state.reason : exitReason(event.exit),
      };
      return { state: enterPhase(state, "stopping", context, change) };
    }
    case "gone":
      return hasProcess(state.phase) ? gone(state, event, context) : { state };
    case "deadline":
      return state.deadlineMs !== undefined && context.nowMs >= state.deadlineMs
        ? deadline(state, context)
        : { state };
    case "connected": {
      if (!isWanted(state) || state.phase === "ready") return { state };
      const deadlineMs = context.nowMs + context.settings.startTimeoutMs;
      const reason = state.phase === "starting" ? undefined : state.reason;
      return { state: { ...state, connected: true, deadlineMs, reason } };
    }
    case "registered":
      // More tools do not change the health of an agent that is unhealthy.
      return isWanted(state) && !state.registered ? becomeReady(state, context) : { state };
    case "disconnected":
      return isWanted(state) ? disconnected(state, event, context) : { state };
    case "health":
      return isWanted(state) ? healthChanged(state, event, context) : { state };
  }
};
