import type { AuditEntryInput } from "@harnesskit/audit";
import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { BufferFullError, Watches, type WatchOptions } from "@harnesskit/wire";
import { type CallResult, coreResult } from "../call-result.ts";
import type { CallGate } from "../call-router.ts";
import { AgentSupervisor } from "./agent-supervisor.ts";
import {
  AgentExistsError,
  AgentStartError,
  AgentsNotReadyError,
  CoreStoppedError,
  ManifestError,
  UnknownAgentError,
} from "./errors.ts";
import type { LaunchContext } from "./launch-options.ts";
import type { LaunchedAgent } from "./launched-agent.ts";
import { type ReadManifest, readManifest } from "./read-manifest.ts";

/** The entry for the state that an agent came into. */
const stateEntry = (agent: LaunchedAgent): AuditEntryInput => ({
  action: `agent.${agent.state}`,
  outcome: agent.state === "crash_loop" ? "limited" : agent.reasonCode === undefined ? "ok" : "failed",
  agent_id: agent.agentId,
  session_id: agent.sessionId,
  details: {
    reason: agent.reasonCode,
    restarts: agent.restarts,
    launch_id: agent.launchId,
    manifest_hash: agent.manifestHash,
    wait_ms: agent.state === "backoff" ? (agent.nextStartMs ?? 0) - agent.sinceMs : undefined,
    exit_code: agent.lastExit ? agent.lastExit.code : undefined,
    exit_signal: agent.lastExit ? agent.lastExit.signal : undefined,
  },
});

/** All agents that a core launched, by their ids. */
export class LaunchedAgents implements CallGate {
  /** The core ends: it takes no more calls. */
  isClosing = false;
  readonly #context: LaunchContext;
  readonly #agents = new Map<string, AgentSupervisor>();
  readonly #watches: Watches<LaunchedAgent>;

  constructor(context: LaunchContext) {
    this.#context = context;
    this.#watches = new Watches(context.core.context.limits.maxWatchers);
  }

  /** In the order in which they were launched first. */
  get all(): readonly LaunchedAgent[] {
    return Array.from(this.#agents.values(), (agent) => agent.health);
  }

  /** Reads the manifests of several agents and starts them all, or none when one cannot be read. */
  async startAll(directories: readonly string[]): Promise<void> {
    const reads = await Promise.all(directories.map((directory) => this.#readManifest(directory)));
    const ids = new Set<string>();
    for (const { manifest, directory } of reads) {
      if (ids.has(manifest.id)) throw new AgentExistsError(manifest.id, directory);
      ids.add(manifest.id);
    }
    for (const read of reads) this.#start(read);
  }

  async launch(directory: string): Promise<LaunchedAgent> {
    this.#assertOpen();
    const agent = this.#start(await this.#readManifest(directory));
    await agent.ready();
    return agent.health;
  }

  async restart(agentId: string): Promise<LaunchedAgent> {
    this.#assertOpen();
    const agent = this.#get(agentId);
    const read = await this.#readManifest(agent.directory);
    if (read.manifest.id !== agentId) {
      const reason = `is of another agent than ${agentId} now`;
      throw new ManifestError("manifest_invalid", read.directory, reason, "id");
    }
    this.#assertOpen();
    agent.restart(read);
    await agent.ready();
    return agent.health;
  }

  async stop(agentId: string): Promise<void> {
    await this.#get(agentId).stop();
  }

  /** Runs `act`, which ends a session; with `retryAfterMs` its agent is expected to reconnect. */
  expectGoodbye<T>(agentId: string, retryAfterMs: number | undefined, act: () => T): T {
    const agent = this.#agents.get(agentId);
    return agent && retryAfterMs !== undefined ? agent.expectBack(retryAfterMs, act) : act();
  }

  async ready(agentId?: string): Promise<void> {
    const agents = agentId === undefined ? [...this.#agents.values()] : [this.#get(agentId)];
    const outcomes = await Promise.allSettled(agents.map((agent) => agent.ready()));
    const errors = outcomes
      .map((outcome) => (outcome.status === "rejected" ? (outcome.reason as unknown) : undefined))
      .filter((reason) => reason instanceof AgentStartError);
    if (errors.length > 0) throw new AgentsNotReadyError(errors);
  }

  watch(options: WatchOptions | undefined): AsyncIterableIterator<LaunchedAgent> {
    const present = this.all.map((agent): [string, LaunchedAgent] => [agent.agentId, agent]);
    return this.#watches.open(present, options);
  }

  /** Ends all of them at once. */
  async close(): Promise<void> {
    this.isClosing = true;
    await Promise.all(Array.from(this.#agents.values(), (agent) => agent.stop({ atOnce: true })));
  }

  closeWatches(): void {
    this.#watches.close();
  }

  /** Called after each change of an agent. */
  changed(agent: LaunchedAgent, before: LaunchedAgent): void {
    const { audit } = this.#context.core.context;
    this.#watches.push(agent.agentId, agent);
    if (agent.state !== before.state) audit.record(stateEntry(agent));
  }

  refusal(agentId: string): CallResult | undefined {
    if (this.isClosing) return coreResult(RuntimeErrorCode.CoreClosed, "the core takes no more calls");
    if (this.#agents.get(agentId)?.health.state !== "stopping") return undefined;
    return coreResult(RuntimeErrorCode.AgentUnavailable, "the agent is being stopped", { retryable: true });
  }

  expects(agentId: string): boolean {
    return this.#agents.has(agentId);
  }

  #readManifest(directory: string): Promise<ReadManifest> {
    return readManifest(directory, this.#context.core.context.limits);
  }

  #start(read: ReadManifest): AgentSupervisor {
    this.#assertOpen();
    const { id } = read.manifest;
    const { maxAgents } = this.#context.core.context.limits;
    const present = this.#agents.get(id);
    const state = present?.health.state ?? "stopped";
    if (state !== "stopped" && state !== "crash_loop") throw new AgentExistsError(id, read.directory);
    if (!present && this.#agents.size >= maxAgents) throw new BufferFullError("maxAgents", maxAgents);
    const agent = present ?? new AgentSupervisor(this.#context, this, read);
    this.#agents.set(id, agent);
    agent.restart(read);
    return agent;
  }

  #get(agentId: string): AgentSupervisor {
    const agent = this.#agents.get(agentId);
    if (!agent) throw new UnknownAgentError(agentId);
    return agent;
  }

  #assertOpen(): void {
    if (this.isClosing) throw new CoreStoppedError();
  }
}
