import type { AgentHeartbeat } from "@harnesskit/protocol/runtime";
import type { Clock } from "@harnesskit/wire";
import type { LoopLag } from "./loop-lag.ts";
import type { RunningCalls } from "./running-calls.ts";

export interface HeartbeatOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  readonly sessionId: string;
  /** When the agent began. */
  readonly startedAt: number;
  readonly lag: LoopLag;
  /** From this delay of timers on the agent says that it is degraded. */
  readonly degradedLagMs: number;
  readonly running: RunningCalls;
  readonly maxInflightCalls: number;
  readonly inflight: () => number;
  readonly waiting: () => number;
  /** Sends one; false while the one before has not left. */
  readonly send: (payload: AgentHeartbeat["payload"]) => void;
}

const statusOf = (lagMs: number, abandoned: number, options: HeartbeatOptions) => {
  if (abandoned >= options.maxInflightCalls) return "unhealthy";
  return lagMs >= options.degradedLagMs || abandoned > 0 ? "degraded" : "ok";
};

/** Tells the core once an interval how the agent is (section 4.5.1). Returns what ends it. */
export const startHeartbeat = (options: HeartbeatOptions): (() => void) => {
  const { clock, intervalMs, running, lag } = options;
  let nextAt = clock.now() + intervalMs;
  let cancel: () => void;
  const beat = () => {
    const now = clock.now();
    const lagMs = lag.take();
    const abandoned = running.abandoned;
    nextAt = Math.max(nextAt + intervalMs, now + intervalMs / 2);
    arm();
    options.send({
      session_id: options.sessionId,
      uptime_ms: Math.max(0, Math.round(now - options.startedAt)),
      inflight_calls: options.inflight(),
      status: statusOf(lagMs, abandoned, options),
      details: {
        event_loop_lag_ms: lagMs,
        abandoned_calls: abandoned,
        waiting_messages: options.waiting(),
      },
    });
  };
  const arm = () => {
    cancel = clock.after(Math.max(0, nextAt - clock.now()), beat);
  };
  arm();
  return () => {
    cancel();
    lag.stop();
  };
};
