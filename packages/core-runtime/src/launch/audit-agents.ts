import type { AuditEntryInput } from "@harnesskit/audit";
import type { LaunchedAgent } from "./launched-agent.ts";

const actions: Readonly<Record<LaunchedAgent["state"], string>> = {
  stopped: "agent.stopped",
  starting: "agent.starting",
  ready: "agent.ready",
  unhealthy: "agent.unhealthy",
  stopping: "agent.stopping",
  backoff: "agent.backoff",
  crash_loop: "agent.crash_loop",
};

const entryOf = (health: LaunchedAgent): AuditEntryInput => ({
  action: actions[health.state],
  outcome: health.state === "crash_loop" ? "limited" : health.reasonCode === undefined ? "ok" : "failed",
  agent_id: health.agentId,
  session_id: health.sessionId,
  details: {
    reason: health.reasonCode,
    restarts: health.restarts,
    launch_id: health.launchId,
    manifest_hash: health.manifestHash,
    ...(health.state === "backoff" && { wait_ms: (health.nextStartMs ?? 0) - health.sinceMs }),
    ...(health.lastExit && { exit_code: health.lastExit.code, exit_signal: health.lastExit.signal }),
  },
});

const driftOf = ({ agentId, manifestDrift, manifestHash, reasonCode }: LaunchedAgent): AuditEntryInput => ({
  action: "agent.manifest_drift",
  outcome: reasonCode === "manifest_drift" ? "refused" : "ok",
  agent_id: agentId,
  details: { drift: manifestDrift, manifest_hash: manifestHash },
});

/** What the audit is told of a change: the state that an agent came into, and a manifest file that is another now. */
export const auditEntries = (health: LaunchedAgent, before: LaunchedAgent): AuditEntryInput[] => {
  const entries: AuditEntryInput[] = [];
  if (health.manifestDrift !== undefined && health.manifestDrift !== before.manifestDrift) {
    entries.push(driftOf(health));
  }
  if (health.state !== before.state) entries.push(entryOf(health));
  return entries;
};
