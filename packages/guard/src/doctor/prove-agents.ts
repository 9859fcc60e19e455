import type { FoundAgent } from "../settings/agent-places.ts";
import { documentedHost, type ProveHostOptions, proveHost } from "./prove-host.ts";
import type { DoctorReport, DoctorRow } from "./report.ts";
import { runnableHosts } from "./runnable-hosts.ts";

export interface ProveAgentsOptions
  extends Pick<ProveHostOptions, "hookProgram" | "parallel" | "timeoutMs" | "signal"> {
  readonly agents: readonly FoundAgent[];
  readonly nowMs: number;
  /** Called after each run. */
  readonly onRow?: ((agent: FoundAgent, row: DoctorRow) => void) | undefined;
}

/** Runs each installed agent once for each failure of its hook, and resolves with what its tool did; for the others with what their vendors document. */
export const proveAgents = async (options: ProveAgentsOptions): Promise<DoctorReport> => {
  const { agents, nowMs, onRow, ...rest } = options;
  const proved = [];
  for (const agent of agents) {
    const { host, program } = agent;
    const runnable = runnableHosts.find(({ id }) => id === host.id);
    proved.push(
      runnable && program !== undefined
        ? await proveHost({ ...rest, host, runnable, program, onRow: (row) => onRow?.(agent, row) })
        : documentedHost(host),
    );
  }
  return { version: 1, atMs: nowMs, agents: proved };
};
