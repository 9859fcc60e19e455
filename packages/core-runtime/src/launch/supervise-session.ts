import { enterPhase } from "./enter-phase.ts";
import type { AgentReason } from "./errors.ts";
import type { Supervision, SupervisionContext, SupervisionEvent, SupervisionStep } from "./supervision.ts";

const serve = (state: Supervision, context: SupervisionContext): SupervisionStep => ({
  state: enterPhase(state, "ready", context, {
    registered: true,
    readyAtMs: state.readyAtMs ?? context.nowMs,
  }),
});

/** What its session says, which counts only while the agent is wanted. */
export const superviseSession = (
  state: Supervision,
  event: SupervisionEvent,
  context: SupervisionContext,
): SupervisionStep => {
  const { nowMs, settings } = context;
  if (state.phase !== "starting" && state.phase !== "ready" && state.phase !== "unhealthy") return { state };
  switch (event.type) {
    case "connected": {
      const deadlineMs = nowMs + settings.registerTimeoutMs;
      if (state.phase === "ready") return { state };
      const reason = state.phase === "starting" ? undefined : state.reason;
      return { state: { ...state, connected: true, deadlineMs, reason } };
    }
    case "registered":
      // More tools of an agent that was unhealthy before make it no better.
      return state.registered ? { state } : serve({ ...state, connected: true }, context);
    case "disconnected": {
      const reason: AgentReason = {
        code: "disconnected",
        message: `its session ended: ${event.message}`,
      };
      const { retryAfterMs } = event;
      const waitMs =
        retryAfterMs === undefined ? settings.reconnectTimeoutMs : retryAfterMs + settings.connectTimeoutMs;
      const change = {
        connected: false,
        registered: false,
        deadlineMs: nowMs + waitMs,
        reason,
      };
      return {
        state: enterPhase(state, state.phase === "starting" ? "starting" : "unhealthy", context, change),
      };
    }
    case "health": {
      if (!state.registered) return { state };
      if (event.status !== "unhealthy") return state.phase === "ready" ? { state } : serve(state, context);
      if (state.phase === "unhealthy") return { state };
      const reason: AgentReason = {
        code: "unhealthy",
        message: event.message ?? "it says that it is unhealthy",
      };
      const deadlineMs = nowMs + settings.unhealthyTimeoutMs;
      return { state: enterPhase(state, "unhealthy", context, { deadlineMs, reason }) };
    }
    default:
      return { state };
  }
};
