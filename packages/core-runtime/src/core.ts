import { type AgentHello, AgentIdSchema, RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { type Channel, ConnectionClosedError, InvalidArgumentError } from "@harnesskit/wire";
import { Admissions, type AdmittedLaunch } from "./admissions.ts";
import type { AgentInfo, SessionHealth } from "./agent-state.ts";
import { Agents } from "./agents.ts";
import { AuditBudget } from "./audit-trail.ts";
import type { ToolCall } from "./call.ts";
import type { CallOptions } from "./call-options.ts";
import { type CallGate, CallRouter } from "./call-router.ts";
import { Connection, type ConnectionOwner } from "./connection.ts";
import type { CoreContext } from "./core-context.ts";
import { checkWholeNumber } from "./core-limits.ts";
import { type CoreOptions, createContext } from "./core-options.ts";
import type { CoreStats } from "./core-stats.ts";
import type { Admission, DisconnectReason, Launch, LaunchObserver } from "./launch-port.ts";
import type { MessageFactory } from "./message-factory.ts";
import type { ToolInfo } from "./registered-tool.ts";
import { Session } from "./session.ts";
import type { WatchOptions } from "./watch.ts";

/** The core of the runtime protocol: knows its agents, their tools, and calls them. Starts no process. */
export interface Core {
  /** Serves one agent on a channel that was not started yet. A core that is closing closes it. */
  connect(channel: Channel): void;
  /**
   * Lets one launch connect once, with a token that is issued here. Throws `invalid_argument` for a launch that cannot
   * be used or is admitted already, `buffer_full` when `maxAdmissions` are, `connection_closed` when the core is closing.
   */
  admit(launch: Launch, observer: LaunchObserver): Admission;
  /**
   * Calls a tool. Every outcome, a refusal too, is the call's result; throws `invalid_argument` for options that cannot
   * be used. `input` is checked against the tool's schema and has to be a JSON object.
   */
  call(toolId: string, input: unknown, options?: CallOptions): ToolCall;
  /** The tools of all agents that have a session. */
  tools(): readonly ToolInfo[];
  /**
   * The tools now, and again whenever they change; a slow reader gets the newest list only. Throws `buffer_full` when
   * there are `maxWatchers`.
   */
  watchTools(options?: WatchOptions): AsyncIterableIterator<readonly ToolInfo[]>;
  /** The agents that have a session. */
  agents(): readonly AgentInfo[];
  /**
   * How each agent is now, and each change; of an agent, a slow reader gets the newest state only. Throws
   * `buffer_full` when there are `maxWatchers`.
   */
  health(options?: WatchOptions): AsyncIterableIterator<SessionHealth>;
  /**
   * Asks an agent whether it is there. Resolves with the milliseconds that the answer took. Rejects with
   * `connection_closed` when the agent has no session or loses it, `request_timeout` after `timeoutMs`, `buffer_full`
   * when 16 pings wait for it. @default 5000
   */
  ping(agentId: string, options?: { readonly timeoutMs?: number }): Promise<number>;
  /** What was counted so far. */
  stats(): Readonly<CoreStats>;
  /**
   * Says goodbye to an agent and closes its connection; its running calls end with `agent.lost`. With `retryAfterMs` the
   * launch's token is good for one more hello. Returns false when the agent has no session.
   */
  goodbye(agentId: string, options: { readonly reason: string; readonly retryAfterMs?: number }): boolean;
  /** Takes no more calls, lets those that run and wait finish for at most `timeoutMs`, and closes. @default 30000 */
  drain(options?: { readonly timeoutMs?: number }): Promise<void>;
  /** Ends every call with `core.closed`, says goodbye and closes every connection. Settles when all are closed. */
  close(): Promise<void>;
}

class RuntimeCore implements Core, ConnectionOwner {
  readonly context: CoreContext;
  readonly admissions: Admissions;
  readonly auditBudget: AuditBudget;
  readonly #agents: Agents;
  readonly #router: CallRouter;
  readonly #greeting = new Set<Connection>();
  readonly #open = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(options: CoreOptions, gate?: CallGate) {
    this.context = createContext(options);
    const { clock, limits, times } = this.context;
    this.admissions = new Admissions({
      clock,
      tokenLifetimeMs: times.tokenLifetimeMs,
      maxAdmissions: limits.maxAdmissions,
    });
    this.auditBudget = new AuditBudget(clock, limits.maxAuditEventsPerMinute);
    this.#agents = new Agents({
      maxWatchers: limits.maxWatchers,
      isAdmitted: (agentId) => this.admissions.hasAgent(agentId),
      ended: (session, reason) => this.#sessionEnded(session, reason),
    });
    this.#router = new CallRouter(this.context, this.#agents, gate);
  }

  connect(channel: Channel): void {
    const { stats, limits, audit } = this.context;
    stats.connections++;
    if (this.#closing || this.#greeting.size >= limits.maxUnauthenticatedConnections) {
      stats.refusedConnections++;
      if (!this.#closing) {
        const details = { limit: "maxUnauthenticatedConnections" };
        audit.recordWithin(this.auditBudget, { action: "agent.refused", outcome: "limited", details });
      }
      void channel.close();
      return;
    }
    const connection = new Connection(channel, this);
    this.#greeting.add(connection);
    const { closed } = channel;
    this.#open.add(closed);
    void closed.then(() => this.#open.delete(closed));
    connection.start();
  }

  settled(connection: Connection): void {
    this.#greeting.delete(connection);
  }

  welcome(options: {
    readonly channel: Channel;
    readonly admitted: AdmittedLaunch;
    readonly hello: AgentHello;
    readonly messages: MessageFactory;
    readonly manifestDrift: boolean;
  }): Session {
    const { channel, admitted, hello, messages, manifestDrift } = options;
    const { agentId, launchId } = admitted.launch;
    const session = new Session({
      context: this.context,
      channel,
      admitted,
      hello: hello.payload,
      manifestDrift,
      knownDigests: this.#agents.knownDigests(agentId),
      messages,
      events: this.#agents,
    });
    const before = this.#agents.session(agentId);
    before?.goodbye({
      code: RuntimeErrorCode.AgentLost,
      message: "another session of the agent took its place",
    });
    admitted.end = (reason) => session.goodbye(reason);
    this.context.stats.sessions++;
    this.context.audit.record({
      action: "agent.connected",
      outcome: "ok",
      agent_id: agentId,
      session_id: session.sessionId,
      details: { launch_id: launchId, manifest_drift: manifestDrift, superseded: before !== undefined },
    });
    session.open(hello.id);
    this.#agents.add(session);
    session.tellConnected();
    if (manifestDrift) session.tellHealth("the manifest differs from the one that the agent was built with");
    return session;
  }

  admit(launch: Launch, observer: LaunchObserver): Admission {
    if (this.#closing || this.#agents.closing) throw new ConnectionClosedError("the core is closing");
    if (!AgentIdSchema.safeParse(launch.agentId).success) {
      throw new InvalidArgumentError("agentId has to be the id of an agent, as a manifest has it");
    }
    if (typeof launch.launchId !== "string" || launch.launchId === "" || launch.launchId.length > 256) {
      throw new InvalidArgumentError("launchId has to be a text of 1 to 256 characters");
    }
    const { token, admitted } = this.admissions.add(launch, observer);
    this.context.audit.addSecret(token);
    this.context.redactor.addSecret(token);
    this.#auditLaunch("agent.admitted", admitted);
    return {
      token,
      revoke: (reason) => {
        if (!this.#revoke(admitted, reason)) return;
        this.context.audit.removeSecret(token);
        this.context.redactor.removeSecret(token);
      },
    };
  }

  call(toolId: string, input: unknown, options?: CallOptions): ToolCall {
    return this.#router.call(toolId, input, options);
  }

  tools(): readonly ToolInfo[] {
    return this.#agents.tools();
  }

  watchTools(options?: WatchOptions): AsyncIterableIterator<readonly ToolInfo[]> {
    return this.#agents.watchTools(options);
  }

  agents(): readonly AgentInfo[] {
    return this.#agents.infos();
  }

  health(options?: WatchOptions): AsyncIterableIterator<SessionHealth> {
    return this.#agents.watchHealth(options);
  }

  async ping(agentId: string, options: { readonly timeoutMs?: number } = {}): Promise<number> {
    const timeoutMs = checkWholeNumber("timeoutMs", options.timeoutMs ?? 5000, 1);
    const session = this.#agents.session(agentId);
    if (!session) throw new ConnectionClosedError(`the agent ${agentId} has no session`);
    return await session.ping(timeoutMs);
  }

  stats(): Readonly<CoreStats> {
    return { ...this.context.stats };
  }

  goodbye(agentId: string, options: { readonly reason: string; readonly retryAfterMs?: number }): boolean {
    const { reason, retryAfterMs } = options;
    if (retryAfterMs !== undefined) checkWholeNumber("retryAfterMs", retryAfterMs, 0);
    const session = this.#agents.session(agentId);
    if (!session) return false;
    if (retryAfterMs !== undefined) this.admissions.rearm(session.admitted, retryAfterMs);
    session.goodbye({ code: "core.goodbye", message: reason }, retryAfterMs);
    return true;
  }

  async drain(options: { readonly timeoutMs?: number } = {}): Promise<void> {
    const timeoutMs = checkWholeNumber("timeoutMs", options.timeoutMs ?? 30_000, 0);
    this.#agents.closing = true;
    if (!this.#closing) {
      this.context.audit.record({ action: "core.draining", outcome: "ok" });
      await this.#whenIdle(timeoutMs);
    }
    await this.close();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#agents.closing = true;
    const reason = { code: RuntimeErrorCode.CoreClosed, message: "the core is closing" };
    for (const session of this.#agents.sessions()) session.goodbye(reason);
    for (const connection of [...this.#greeting]) connection.close();
    for (const admitted of this.admissions.all()) this.admissions.remove(admitted);
    this.#agents.close();
    this.context.deadlines.close();
    await Promise.all(this.#open);
    this.context.audit.record({ action: "core.closed", outcome: "ok" });
  }

  /** Settles when no call is left, or the time is over. */
  async #whenIdle(timeoutMs: number): Promise<void> {
    const idle = this.#agents
      .sessions()
      .map(({ calls }) => new Promise<void>((done) => calls.whenIdle(done)));
    let stop: (() => void) | undefined;
    const timeout = new Promise<void>((done) => {
      stop = this.context.clock.after(timeoutMs, done);
    });
    await Promise.race([Promise.all(idle), timeout]);
    stop?.();
  }

  #revoke(admitted: AdmittedLaunch, reason: DisconnectReason | undefined): boolean {
    if (!this.admissions.remove(admitted)) return false;
    admitted.end?.(reason ?? { code: RuntimeErrorCode.AgentLost, message: "the launch is over" });
    this.#agents.forget(admitted.launch.agentId);
    this.#auditLaunch("agent.revoked", admitted, reason?.code);
    return true;
  }

  #sessionEnded(session: Session, { code }: DisconnectReason): void {
    this.context.audit.record({
      action: "agent.disconnected",
      outcome: code === RuntimeErrorCode.CoreClosed || code === "core.goodbye" ? "ok" : "failed",
      agent_id: session.agentId,
      session_id: session.sessionId,
      duration_ms: this.context.clock.now() - session.openedAt,
      details: { code, suppressed: session.auditBudget.suppressed },
    });
  }

  #auditLaunch(action: string, { launch }: AdmittedLaunch, code?: string): void {
    const details = { launch_id: launch.launchId, code };
    this.context.audit.record({ action, outcome: "ok", agent_id: launch.agentId, details });
  }
}

/** Makes a core. Throws `invalid_argument` for options that cannot be used. */
export const createCore = (options: CoreOptions = {}): Core => new RuntimeCore(options);

/** The same, with somebody else who knows what agents there are to be, and may refuse calls. */
export const createGatedCore = (options: CoreOptions, gate: CallGate): Core => new RuntimeCore(options, gate);
