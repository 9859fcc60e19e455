import { enterPhase } from "./enter-phase.ts";
import type { AgentExit, AgentReason } from "./errors.ts";
import { backoffMs } from "./restart-policy.ts";
import { superviseSession } from "./supervise-session.ts";
import type {
  AgentPhase,
  Supervision,
  SupervisionContext,
  SupervisionEvent,
  SupervisionStep,
} from "./supervision.ts";

const exitReason = ({ code, signal }: AgentExit): AgentReason => ({
  code: "exited",
  message: signal === null ? `its process ended with code ${code}` : `its process was ended by ${signal}`,
});

const start = (state: Supervision, context: SupervisionContext, byHand: boolean): SupervisionStep => ({
  state: enterPhase(state, "starting", context, {
    deadlineMs: context.nowMs + context.settings.connectTimeoutMs,
    connected: false,
    registered: false,
    readyAtMs: undefined,
    ending: undefined,
    next: "policy",
    failed: false,
    byHand,
    ...(byHand ? { failures: 0, restartsMs: [], restarts: 0 } : { restarts: state.restarts + 1 }),
  }),
  action: "spawn",
});

/** Asks the process to end: its calls first. */
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

/** Says goodbye to an agent that is there to hear it, and asks the others to end. */
const leave = (state: Supervision, context: SupervisionContext): SupervisionStep => {
  if (!state.connected) return terminate(state, context);
  const deadlineMs = context.nowMs + context.settings.goodbyeGraceMs;
  return { state: { ...state, ending: "leaving", deadlineMs }, action: "goodbye" };
};

const terminate = (state: Supervision, context: SupervisionContext): SupervisionStep => ({
  state: {
    ...state,
    ending: "terminating",
    deadlineMs: context.nowMs + context.settings.stopGraceMs,
  },
  action: "terminate",
});

/** Ends the process by force, because it failed. */
const killFailed = (
  state: Supervision,
  context: SupervisionContext,
  reason: AgentReason,
): SupervisionStep => ({
  state: enterPhase(state, "stopping", context, { ending: "killing", failed: true, next: "policy", reason }),
  action: "kill",
});

/** Without a process: what the policy wants now. */
const followPolicy = (
  state: Supervision,
  context: SupervisionContext,
  reason: AgentReason | undefined,
  failed: boolean,
): SupervisionStep => {
  const { nowMs, random, settings } = context;
  const { restart } = settings;
  const rest = { reason, connected: false, registered: false, ending: undefined };
  const wanted = restart.policy === "always" || (restart.policy === "on-failure" && failed);
  if (!wanted) return { state: enterPhase(state, "stopped", context, rest) };
  const recent = state.restartsMs.filter((at) => nowMs - at < restart.burstWindowMs);
  if (recent.length >= restart.maxBurst) {
    const message = `it was given up after ${recent.length} restarts within ${restart.burstWindowMs} ms: ${reason?.message ?? "it ended"}`;
    return {
      state: enterPhase(state, "crash_loop", context, { ...rest, reason: { code: "crash_loop", message } }),
    };
  }
  const stable = state.readyAtMs !== undefined && nowMs - state.readyAtMs >= restart.stableAfterMs;
  const failures = stable ? 0 : state.failures;
  return {
    state: enterPhase(state, "backoff", context, {
      ...rest,
      deadlineMs: nowMs + backoffMs(restart, failures, random),
      failures: failures + 1,
      restartsMs: [...recent, nowMs],
    }),
  };
};

const rested = (state: Supervision, context: SupervisionContext): SupervisionStep => ({
  state: enterPhase(state, "stopped", context, { connected: false, registered: false, ending: undefined }),
});

const hasProcess = (phase: AgentPhase): boolean =>
  phase === "starting" || phase === "ready" || phase === "unhealthy" || phase === "stopping";

const gone = (
  state: Supervision,
  event: SupervisionEvent & { type: "gone" },
  context: SupervisionContext,
) => {
  if (state.next === "start") return start(state, context, true);
  if (state.next === "rest") return rested(state, context);
  const { exit } = event;
  const reason = event.reason ?? (state.failed ? state.reason : undefined) ?? exitReason(exit);
  return followPolicy(state, context, reason, state.failed || event.reason !== undefined || exit.code !== 0);
};

const lateReason = ({ connected }: Supervision, { settings }: SupervisionContext): AgentReason =>
  connected
    ? { code: "register_timeout", message: `it registered no tools within ${settings.registerTimeoutMs} ms` }
    : { code: "connect_timeout", message: `it said no hello within ${settings.connectTimeoutMs} ms` };

const deadline = (state: Supervision, context: SupervisionContext): SupervisionStep => {
  switch (state.phase) {
    case "starting":
      return killFailed(state, context, state.reason ?? lateReason(state, context));
    case "unhealthy":
      return killFailed(state, context, state.reason ?? { code: "unhealthy", message: "it is unhealthy" });
    case "backoff":
      return start(state, context, false);
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

/** Any event in any phase: what follows, and what is to be done. Pure. */
export const supervise = (
  state: Supervision,
  event: SupervisionEvent,
  context: SupervisionContext,
): SupervisionStep => {
  switch (event.type) {
    case "start":
      if (state.phase === "stopping") return { state: { ...state, next: "start" } };
      return hasProcess(state.phase) ? { state } : start(state, context, true);
    case "restart":
      if (state.phase === "stopping") return { state: { ...state, next: "start" } };
      return hasProcess(state.phase) ? end(state, context, "start") : start(state, context, true);
    case "stop":
      return stop(state, event.atOnce ?? false, context);
    case "start_failed":
      if (state.phase === "stopping") {
        if (state.next === "start") return start(state, context, true);
        if (state.next === "rest") return rested(state, context);
        return followPolicy(state, context, state.reason ?? event.reason, true);
      }
      if (state.phase !== "starting") return { state };
      if (state.byHand || event.reason.code === "manifest_drift")
        return { state: enterPhase(state, "stopped", context, { reason: event.reason }) };
      return followPolicy(state, context, event.reason, true);
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
    default:
      return superviseSession(state, event, context);
  }
};
