import { createUnixListener } from "@harnesskit/transport-uds";
import { displayText, type Listener, Watches, type WatchOptions } from "@harnesskit/wire";
import type { RunningCore } from "./core.ts";
import { CoreContext } from "./core-context.ts";
import type { CoreOptions } from "./core-options.ts";
import { AgentSupervisor } from "./launch/agent-supervisor.ts";
import {
  baseDirectories,
  type CoreDirectory,
  makeCoreDirectory,
  sweepCores,
} from "./launch/core-directory.ts";
import {
  AgentStartError,
  AgentsNotReadyError,
  agentExists,
  LaunchError,
  ManifestError,
} from "./launch/errors.ts";
import type { LaunchedAgent } from "./launch/launched-agent.ts";
import { type ReadManifest, readManifest } from "./launch/read-manifest.ts";
import { checkCoreOptions } from "./option-names.ts";
import { RuntimeCore } from "./runtime-core.ts";

/** Readers of the agents' states at the same time. */
const maxWatchers = 256;

/** A core with a listener, and with the agents that it launched, by their ids. */
export class StartedCore extends RuntimeCore implements RunningCore {
  readonly directory: CoreDirectory;
  /** In the order in which they were launched first. */
  readonly #supervisors = new Map<string, AgentSupervisor>();
  readonly #watches = new Watches<LaunchedAgent>(maxWatchers);
  #listener: Listener | undefined;

  constructor(context: CoreContext, directory: CoreDirectory) {
    super(context);
    this.directory = directory;
  }

  get socketPath(): string {
    return this.directory.socketPath;
  }

  /** Listens, reads the manifests and starts all of the agents, or none when one cannot be read. */
  async start(directories: readonly string[]): Promise<void> {
    const { clock, limits } = this.context;
    const { maxFrameBytes } = limits;
    try {
      this.#listener = createUnixListener({ path: this.socketPath, maxFrameBytes, clock });
      await this.#listener.listen((channel) => this.connect(channel));
      const reads = await Promise.all(directories.map((directory) => readManifest(directory)));
      const ids = new Set<string>();
      for (const { manifest, directory } of reads) {
        if (ids.has(manifest.id)) throw agentExists(manifest.id, directory);
        ids.add(manifest.id);
      }
      for (const read of reads) this.#start(read);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async launch(directory: string): Promise<LaunchedAgent> {
    this.#assertOpen();
    const agent = this.#start(await readManifest(directory));
    await agent.ready();
    return agent.health;
  }

  async restart(agentId: string): Promise<LaunchedAgent> {
    this.#assertOpen();
    const agent = this.#get(agentId);
    const read = await readManifest(agent.directory);
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

  async ready(agentId?: string): Promise<void> {
    const agents = agentId === undefined ? [...this.#supervisors.values()] : [this.#get(agentId)];
    const outcomes = await Promise.allSettled(agents.map((agent) => agent.ready()));
    const errors = outcomes
      .map((outcome) => (outcome.status === "rejected" ? (outcome.reason as unknown) : undefined))
      .filter((reason) => reason instanceof AgentStartError);
    if (errors.length > 0) throw new AgentsNotReadyError(errors);
  }

  launched(): readonly LaunchedAgent[] {
    return Array.from(this.#supervisors.values(), (agent) => agent.health);
  }

  health(options?: WatchOptions): AsyncIterableIterator<LaunchedAgent> {
    const present = this.launched().map((agent): [string, LaunchedAgent] => [agent.agentId, agent]);
    return this.#watches.open(present, options);
  }

  /** Called after each change of an agent. */
  changed(agent: LaunchedAgent, before: LaunchedAgent): void {
    this.#watches.push(agent.agentId, agent);
    if (agent.state === before.state) return;
    this.context.audit?.record({
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
        exit_code: agent.lastExit?.code,
        exit_signal: agent.lastExit?.signal,
      },
    });
  }

  override expects(agentId: string): boolean {
    return this.#supervisors.has(agentId) || super.expects(agentId);
  }

  protected override async end(): Promise<void> {
    await Promise.all(Array.from(this.#supervisors.values(), (agent) => agent.stop({ atOnce: true })));
    await super.end();
    this.#watches.close();
    await this.#listener?.close();
    await this.directory.remove();
  }

  #start(read: ReadManifest): AgentSupervisor {
    this.#assertOpen();
    const { id } = read.manifest;
    const present = this.#supervisors.get(id);
    const state = present?.health.state ?? "stopped";
    if (state !== "stopped" && state !== "crash_loop") throw agentExists(id, read.directory);
    const agent = present ?? new AgentSupervisor(this, read);
    this.#supervisors.set(id, agent);
    agent.restart(read);
    return agent;
  }

  #get(agentId: string): AgentSupervisor {
    const agent = this.#supervisors.get(agentId);
    if (agent) return agent;
    const message = `no agent ${displayText(agentId, { maxLength: 300 })} was launched by this core`;
    throw new LaunchError("agent_unknown", message);
  }

  #assertOpen(): void {
    if (!this.isClosing) return;
    throw new LaunchError("core_stopped", "the core is closing or closed: nothing is launched any more");
  }
}

/**
 * Starts a core: listens on a Unix socket in a fresh private directory, and starts the agents of the given directories.
 * It resolves when all manifests were read and the processes are being started; `ready()` resolves when
 * they serve.
 *
 * Rejects with `manifest_not_found`, `manifest_unsafe`, `manifest_too_large` or `manifest_invalid` for the first manifest
 * that cannot be used, `agent_exists` for two of one agent, `invalid_argument`, or `transport_failed` when the socket
 * cannot be made. Then nothing is left running.
 *
 * It handles neither signals nor the end of this process: call `close()` there. Where that does not
 * happen, with `process.exit` or SIGKILL, each agent's guard kills the agent and what it started, and the next core
 * that starts removes the directory that was left.
 */
export const startCore = async (options: CoreOptions = {}): Promise<RunningCore> => {
  // Before a directory is made.
  const context = new CoreContext(checkCoreOptions(options));
  const bases = baseDirectories(process.env, options.socketDirectory);
  await sweepCores(bases);
  const core = new StartedCore(context, await makeCoreDirectory(bases));
  await core.start(options.agents ?? []);
  return core;
};
