import { BufferFullError } from "@harnesskit/wire";
import { AgentSupervisor, type SupervisorHost } from "./agent-supervisor.ts";
import {
  AgentExistsError,
  AgentStartError,
  AgentsNotReadyError,
  CoreStoppedError,
  ManifestError,
  UnknownAgentError,
} from "./errors.ts";
import type { LaunchedAgent } from "./launched-agent.ts";
import { type ReadManifest, readManifest } from "./read-manifest.ts";

const isAtRest = ({ state }: LaunchedAgent): boolean => state === "stopped" || state === "crash_loop";

/** All agents that a core was told to run, by their ids. */
export class LaunchedAgents {
  readonly #host: SupervisorHost;
  readonly #maxAgents: number;
  readonly #agents = new Map<string, AgentSupervisor>();
  #closed = false;

  constructor(host: SupervisorHost, options: { readonly maxAgents: number }) {
    this.#host = host;
    this.#maxAgents = options.maxAgents;
  }

  /** How each agent does, in the order in which they were launched first. */
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
      throw new ManifestError(
        "manifest_invalid",
        read.directory,
        `is of another agent than ${agentId} now`,
        "id",
      );
    }
    this.#assertOpen();
    agent.restart(read);
    await agent.ready();
    return agent.health;
  }

  async stop(agentId: string): Promise<void> {
    await this.#get(agentId).stop();
  }

  /** Does something that ends the session of an agent that is to come back after this time. */
  expectBack<T>(agentId: string, retryAfterMs: number | undefined, act: () => T): T {
    const agent = this.#agents.get(agentId);
    return agent === undefined || retryAfterMs === undefined ? act() : agent.expectBack(retryAfterMs, act);
  }

  async ready(): Promise<void> {
    const outcomes = await Promise.allSettled(Array.from(this.#agents.values(), (agent) => agent.ready()));
    const errors = outcomes
      .map((outcome) => (outcome.status === "rejected" ? (outcome.reason as unknown) : undefined))
      .filter((reason) => reason instanceof AgentStartError);
    if (errors.length > 0) throw new AgentsNotReadyError(errors);
  }

  /** Ends all of them at once, and starts none any more. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(Array.from(this.#agents.values(), (agent) => agent.stop({ atOnce: true })));
  }

  #readManifest(directory: string): Promise<ReadManifest> {
    return readManifest(directory, { maxManifestBytes: this.#host.maxManifestBytes });
  }

  #start(read: ReadManifest): AgentSupervisor {
    this.#assertOpen();
    const { id } = read.manifest;
    const present = this.#agents.get(id);
    if (present && !isAtRest(present.health)) throw new AgentExistsError(id, read.directory);
    if (!present && this.#agents.size >= this.#maxAgents)
      throw new BufferFullError("maxAgents", this.#maxAgents);
    const agent = present ?? new AgentSupervisor(this.#host, read);
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
    if (this.#closed) throw new CoreStoppedError();
  }
}
