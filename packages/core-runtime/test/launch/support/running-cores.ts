import type { AuditEntryInput, AuditSink } from "@harnesskit/audit";
import { expect } from "vitest";
import { type CoreOptions, type LaunchedAgent, type RunningCore, startCore } from "../../../src/index.ts";
import { AgentDirectories } from "./agent-directory.ts";

/** Waits short enough for tests, long enough for a machine with other work. */
const times = {
  restart: { initial_backoff_ms: 10, max_backoff_ms: 40 },
  goodbyeGraceMs: 2000,
  stopGraceMs: 300,
  reconnectTimeoutMs: 300,
} satisfies Partial<CoreOptions>;

/** An audit that keeps what it is told. */
export class KeptAudit implements AuditSink {
  readonly entries: AuditEntryInput[] = [];
  readonly secrets: string[] = [];

  record(entry: AuditEntryInput): void {
    this.entries.push(entry);
  }

  actionsOf(agentId: string): string[] {
    return this.entries.filter((entry) => entry.agent_id === agentId).map((entry) => entry.action);
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  addSecret(value: string): boolean {
    this.secrets.push(value);
    return true;
  }

  removeSecret(): void {}
}

/** The cores and directories of one test. */
export class RunningCores {
  readonly agents = new AgentDirectories();
  readonly #cores: RunningCore[] = [];

  async start(options: CoreOptions = {}): Promise<RunningCore> {
    const socketDirectory = options.socketDirectory ?? (await this.agents.empty());
    // The tests of launches are about anything but permissions.
    const authorize = options.grants ? undefined : () => ({ allowed: true as const });
    const core = await startCore({ ...times, ...(authorize && { authorize }), ...options, socketDirectory });
    this.#cores.push(core);
    return core;
  }

  async clean(): Promise<void> {
    for (const core of this.#cores.splice(0)) await core.close();
    await this.agents.remove();
  }
}

export const healthOf = (core: RunningCore, agentId: string): LaunchedAgent => {
  const health = core.launched().find((agent) => agent.agentId === agentId);
  if (!health) throw new Error(`no agent ${agentId}`);
  return health;
};

/** Waits until an agent's health is as wanted. */
export const untilHealth = async (
  core: RunningCore,
  agentId: string,
  isWanted: (health: LaunchedAgent) => boolean,
): Promise<LaunchedAgent> => {
  for await (const health of core.health({ signal: AbortSignal.timeout(15_000) })) {
    if (health.agentId === agentId && isWanted(health)) return health;
  }
  expect.fail(`${agentId} stayed ${JSON.stringify(healthOf(core, agentId))}`);
};
