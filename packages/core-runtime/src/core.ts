import { createUnixListener } from "@harnesskit/transport-uds";
import {
  type Channel,
  ConnectionClosedError,
  checkNumber,
  createDeferred,
  displayText,
  type Listener,
  Watches,
  type WatchOptions,
} from "@harnesskit/wire";
import { settleWithin } from "@harnesskit/wire/time";
import type { Admission, Launch, LaunchObserver } from "./admissions.ts";
import { AgentSessions } from "./agent-sessions.ts";
import type { ToolCall } from "./call.ts";
import type { CallOptions } from "./call-options.ts";
import type { CallResult } from "./call-result.ts";
import { CallRouter } from "./call-router.ts";
import type { CoreContext } from "./core-context.ts";
import type { Directives } from "./directives.ts";
import type { ToolInfo } from "./judge-tool.ts";
import { AgentSupervisor, type LaunchSite } from "./launch/agent-supervisor.ts";
import type { CoreDirectory } from "./launch/core-directory.ts";
import {
  AgentStartError,
  AgentsNotReadyError,
  agentExists,
  LaunchError,
  ManifestError,
} from "./launch/errors.ts";
import type { LaunchedAgent } from "./launch/launched-agent.ts";
import { type ReadManifest, readManifest } from "./launch/read-manifest.ts";
import type { AgentInfo } from "./session.ts";

/** Readers of the agents' states at the same time. */
const maxWatchers = 256;

/** The core of the runtime protocol: runs agents, knows their tools, and calls them. */
export class RunningCore implements AsyncDisposable {
  /** Issues and revokes the directives that its calls may use. */
  readonly directives: Directives;
  readonly #context: CoreContext;
  readonly #site: LaunchSite;
  readonly #sessions: AgentSessions;
  readonly #router: CallRouter;
  /** By their agents' ids, in the order in which they were launched first. */
  readonly #supervisors = new Map<string, AgentSupervisor>();
  readonly #watches: Watches<LaunchedAgent>;
  readonly #closed = createDeferred<void>();
  #listener: Listener | undefined;
  #closing: Promise<void> | undefined;

  /** @internal */
  constructor(context: CoreContext, directory: CoreDirectory) {
    this.directives = context.directives;
    this.#context = context;
    this.#sessions = new AgentSessions(context);
    const watches = new Watches<LaunchedAgent>(maxWatchers);
    this.#watches = watches;
    this.#site = {
      sessions: this.#sessions,
      directory,
      changed: (agent) => watches.push(agent.agentId, agent),
    };
    this.#router = new CallRouter(this.#sessions, (agentId) => this.#supervisors.has(agentId));
  }

  /** Serves one agent that was admitted, on a channel that was not started yet. A core that is closing closes it. */
  connect(channel: Channel): void {
    this.#sessions.connect(channel);
  }

  /**
   * Lets one launch connect once, with a token that is issued here. Throws `invalid_argument` for an agent id
   * that cannot be used, `connection_closed` when the core is closing.
   */
  admit(launch: Launch, observer: LaunchObserver): Admission {
    return this.#sessions.admit(launch, observer);
  }

  /**
   * Calls a tool. Every outcome, a refusal too, is the call's result; throws `invalid_argument` for options that cannot
   * be used. `input` is checked against the tool's schema and must be a JSON object.
   */
  call(toolId: string, input: unknown, options?: CallOptions): ToolCall {
    return this.#router.call(toolId, input, options);
  }

  /**
   * How a call of the tool with this input and these options would be refused now, or undefined: a directive that it needs
   * aside. `authorize` is asked; nothing is called, and nothing recorded. Rejects with `invalid_argument` like `call`.
   */
  check(toolId: string, input: unknown, options?: CallOptions): Promise<CallResult | undefined> {
    return this.#router.check(toolId, input, options);
  }

  /** The tools of all agents that have a session. */
  tools(): readonly ToolInfo[] {
    return this.#sessions.all.flatMap((session) => session.tools.infos());
  }

  /** The agents that have a session. */
  agents(): readonly AgentInfo[] {
    return this.#sessions.all.map(({ info }) => info);
  }

  /**
   * Asks an agent whether it is there. Resolves with the milliseconds that the answer took. Rejects with
   * `connection_closed` when the agent has no session or loses it, `request_timeout` after `timeoutMs`. @default 5000
   */
  async ping(agentId: string, options: { readonly timeoutMs?: number } = {}): Promise<number> {
    const timeoutMs = checkNumber("timeoutMs", options.timeoutMs ?? 5000);
    const session = this.#sessions.session(agentId);
    if (!session) throw new ConnectionClosedError(`the agent ${agentId} has no session`);
    return await session.ping(timeoutMs);
  }

  /**
   * Says goodbye to an agent and closes its connection; its running calls end with `agent.lost`. Returns false
   * when the agent has no session.
   */
  goodbye(agentId: string, { reason }: { readonly reason: string }): boolean {
    const session = this.#sessions.session(agentId);
    session?.goodbye({ code: "core.goodbye", message: reason });
    return session !== undefined;
  }

  /** The Unix socket to which its agents connect. */
  get socketPath(): string {
    return this.#site.directory.socketPath;
  }

  /**
   * Starts the agent of a directory by its `opensentience.agent.json`, and resolves when it has registered its tools.
   * Rejects with `manifest_not_found`, `manifest_unsafe`, `manifest_too_large` or `manifest_invalid`, with `agent_exists`
   * when an agent with its id runs, with `agent_start_failed` (see `ready()`)
   * or `core_stopped`.
   */
  async launch(directory: string): Promise<LaunchedAgent> {
    this.#assertOpen();
    const agent = this.#start(await readManifest(directory));
    await agent.ready();
    return agent.health;
  }

  /**
   * Ends an agent: refuses further calls, waits `drainTimeoutMs` for those that it has, sends goodbye, SIGTERM after
   * `goodbyeGraceMs`, and kills what is left after `stopGraceMs`. Settles when nothing of it is left. Rejects with
   * `agent_unknown`.
   */
  async stop(agentId: string): Promise<void> {
    await this.#get(agentId).stop();
  }

  /**
   * Ends an agent like `stop()` if it runs, and starts it by what its manifest says now; also one that was
   * given up. Resolves and rejects like `launch()`; when the manifest cannot be used, the agent runs on.
   */
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

  /**
   * Resolves when each agent has registered its tools. Rejects with an `AgentsNotReadyError` (`agents_not_ready`) as
   * soon as each did or failed: `errors` has an `AgentStartError` (`agent_start_failed`) for each that failed, with the
   * reason, its exit and the last lines of its standard error. An agent that waits for its next start by the policy is
   * judged by that start. With `agentId` only that agent is waited for; `agent_unknown` if it was not launched.
   */
  async ready(agentId?: string): Promise<void> {
    const agents = agentId === undefined ? [...this.#supervisors.values()] : [this.#get(agentId)];
    const outcomes = await Promise.allSettled(agents.map((agent) => agent.ready()));
    const errors = outcomes
      .map((outcome) => (outcome.status === "rejected" ? (outcome.reason as unknown) : undefined))
      .filter((reason) => reason instanceof AgentStartError);
    if (errors.length > 0) throw new AgentsNotReadyError(errors);
  }

  /** The state of each agent that was launched, stopped ones included. */
  launched(): readonly LaunchedAgent[] {
    return Array.from(this.#supervisors.values(), (agent) => agent.health);
  }

  /**
   * The state of each launched agent, and each change; of an agent, a slow reader gets the newest state only. Throws
   * `buffer_full` when there are 256 readers.
   */
  health(options?: WatchOptions): AsyncIterableIterator<LaunchedAgent> {
    const present = this.launched().map((agent): [string, LaunchedAgent] => [agent.agentId, agent]);
    return this.#watches.open(present, options);
  }

  /** Takes no more calls, lets those that run and wait finish for at most `timeoutMs`, and closes. @default 30000 */
  async drain(options: { readonly timeoutMs?: number } = {}): Promise<void> {
    const timeoutMs = checkNumber("timeoutMs", options.timeoutMs ?? 30_000, { min: 0 });
    this.#sessions.isClosing = true;
    if (!this.#closing) {
      const { audit, clock } = this.#context;
      audit?.record({ action: "core.draining", outcome: "ok" });
      const idle = Promise.all(this.#sessions.all.map((session) => session.drain()));
      await settleWithin(idle, { name: "drain", timeoutMs, clock });
    }
    await this.close();
  }

  /**
   * Ends every call with `core.closed`, sends goodbye, ends all agents like `stop()` without waiting for
   * calls, and removes the socket. Settles when nothing is left. Idempotent.
   */
  close(): Promise<void> {
    this.#sessions.isClosing = true;
    this.#closing ??= this.#close().then(this.#closed.resolve);
    return this.#closing;
  }

  /** Settles when the core has closed. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @internal Listens, reads the manifests and starts all of the agents, or none when one cannot be read. */
  async start(directories: readonly string[]): Promise<void> {
    const { clock, limits } = this.#context;
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

  #start(read: ReadManifest): AgentSupervisor {
    this.#assertOpen();
    const { id } = read.manifest;
    const present = this.#supervisors.get(id);
    const state = present?.health.state ?? "stopped";
    if (state !== "stopped" && state !== "crash_loop") throw agentExists(id, read.directory);
    const agent = present ?? new AgentSupervisor(this.#site, read);
    this.#supervisors.set(id, agent);
    agent.restart(read);
    return agent;
  }

  async #close(): Promise<void> {
    await Promise.all(Array.from(this.#supervisors.values(), (agent) => agent.stop({ atOnce: true })));
    await this.#sessions.close();
    this.#context.audit?.record({ action: "core.closed", outcome: "ok" });
    this.#watches.close();
    await this.#listener?.close();
    await this.#site.directory.remove();
  }

  #get(agentId: string): AgentSupervisor {
    const agent = this.#supervisors.get(agentId);
    if (agent) return agent;
    const message = `no agent ${displayText(agentId, { maxLength: 300 })} was launched by this core`;
    throw new LaunchError("agent_unknown", message);
  }

  #assertOpen(): void {
    if (!this.#sessions.isClosing) return;
    throw new LaunchError("core_stopped", "the core is closing or closed: nothing is launched any more");
  }
}
