import { HarnessError } from "@harnesskit/wire";
import type { AgentCore } from "./agent-core.ts";
import type { AgentHealth } from "./agent-options.ts";

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

/** The worse of what the agent says of itself and of what is counted: tools that run on after their call has ended. */
export const agentHealth = (core: AgentCore): AgentHealth => {
  const { abandoned } = core.running;
  const own = ownHealth(core);
  const full = abandoned >= core.limits.maxInFlightCalls ? "unhealthy" : "degraded";
  const counted = abandoned > 0 ? full : "ok";
  return {
    status: worse(own.status, counted),
    details: { ...own.details, abandoned_calls: abandoned },
  };
};
