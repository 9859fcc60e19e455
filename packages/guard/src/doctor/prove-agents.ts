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

/** Proves each agent that can be run here; of the others it says what is documented. */
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
