import type { AgentHeartbeat } from "@harnesskit/protocol/runtime";
import { HarnessError } from "@harnesskit/wire";
import type { AgentCore } from "./agent-core.ts";
import type { AgentHealth } from "./agent-options.ts";

export interface HeartbeatOptions {
  readonly core: AgentCore;
  readonly intervalMs: number;
  readonly sessionId: string;
  readonly inflight: () => number;
  readonly waiting: () => number;
  readonly send: (payload: AgentHeartbeat["payload"]) => void;
}

/** From the best to the worst. */
const statuses: readonly AgentHealth["status"][] = ["ok", "degraded", "unhealthy"];

const worse = (a: AgentHealth["status"], b: AgentHealth["status"]): AgentHealth["status"] =>
  statuses.indexOf(a) > statuses.indexOf(b) ? a : b;

const ownHealth = (core: AgentCore): AgentHealth => {
  try {
    return core.settings.health?.() ?? { status: "ok" };
  } catch (cause) {
    core.report(new HarnessError("handler_failed", "health failed", { cause }));
    return { status: "degraded" };
  }
};

/** Reports the agent's health to the core once an interval (section 4.5.1). Returns what ends it. */
export const startHeartbeat = ({ core, intervalMs, ...options }: HeartbeatOptions): (() => void) => {
  const { clock, running, settings, limits } = core;
  let nextAt = clock.elapsedMs() + intervalMs;
  let cancel: () => void;
  const measured = (lagMs: number, abandoned: number): AgentHealth["status"] => {
    if (abandoned >= limits.maxInFlightCalls) return "unhealthy";
    return lagMs >= settings.degradedLagMs || abandoned > 0 ? "degraded" : "ok";
  };
  const send = () => {
    const now = clock.elapsedMs();
    // The timer of the heartbeat itself says how long something kept the thread busy.
    const lagMs = Math.max(0, Math.round(now - nextAt));
    const { abandoned } = running;
    nextAt = Math.max(nextAt + intervalMs, now + intervalMs / 2);
    arm();
    const own = ownHealth(core);
    options.send({
      session_id: options.sessionId,
      uptime_ms: Math.max(0, Math.round(now - core.startedMs)),
      inflight_calls: options.inflight(),
      status: worse(own.status, measured(lagMs, abandoned)),
      details: {
        ...own.details,
        event_loop_lag_ms: lagMs,
        abandoned_calls: abandoned,
        waiting_messages: options.waiting(),
      },
    });
  };
  const arm = () => {
    cancel = clock.after(Math.max(0, nextAt - clock.elapsedMs()), send);
  };
  arm();
  return () => cancel();
};
