import { AgentIdSchema, RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import {
  type Channel,
  ConnectionClosedError,
  checkNumber,
  createDeferred,
  InvalidArgumentError,
} from "@harnesskit/wire";
import { settleWithin } from "@harnesskit/wire/time";
import {
  type Admission,
  Admissions,
  type AdmittedLaunch,
  type DisconnectReason,
  type Launch,
  type LaunchObserver,
} from "./admissions.ts";
import { AuditBudget } from "./audit-trail.ts";
import type { ToolCall } from "./call.ts";
import type { CallOptions } from "./call-options.ts";
import type { CallResult } from "./call-result.ts";
import { CallRouter } from "./call-router.ts";
import { type Accepted, AgentConnection } from "./connection.ts";
import { type CoreContext, createContext } from "./core-context.ts";
import type { CoreOptions } from "./core-options.ts";
import type { Directives } from "./directives.ts";
import type { ToolInfo } from "./judge-tool.ts";
import { type AgentInfo, Session } from "./session.ts";

/** What a core does beside running processes. */
export class RuntimeCore {
  readonly context: CoreContext;
  readonly admissions: Admissions;
  /** It takes no more calls and launches. */
  isClosing = false;
  /** When a connection last began with what is not a frame, by `elapsedMs` of the clock. */
  unframedMs = Number.NEGATIVE_INFINITY;
  /** For all connections without a session together. */
  readonly auditBudget: AuditBudget;
  /** Of each agent the session that it has now. */
  readonly #sessions = new Map<string, Session>();
  readonly #router: CallRouter;
  readonly #greeting = new Set<AgentConnection>();
  readonly #open = new Set<Promise<unknown>>();
  readonly #closed = createDeferred<void>();
  #closing: Promise<void> | undefined;

  constructor(options: CoreOptions) {
    this.context = createContext(options);
    const { clock, limits, times } = this.context;
    this.admissions = new Admissions(clock, times.tokenLifetimeMs);
    this.auditBudget = new AuditBudget(clock, limits.maxAuditEventsPerMinute);
    this.#router = new CallRouter(this.context, this);
  }

  connect(channel: Channel): void {
    const { limits, audit } = this.context;
    if (this.#closing || this.#greeting.size >= limits.maxUnauthenticatedConnections) {
      if (!this.#closing) {
        const details = { limit: "maxUnauthenticatedConnections" };
        audit.recordWithin(this.auditBudget, { action: "agent.refused", outcome: "limited", details });
      }
      void channel.close();
      return;
    }
    const connection = new AgentConnection(channel, this);
    this.#greeting.add(connection);
    const { closed } = channel;
    this.#open.add(closed);
    void closed.then(() => this.#open.delete(closed));
    connection.start();
  }

  /** The connection has a session now, or is gone. */
  settled(connection: AgentConnection): void {
    this.#greeting.delete(connection);
  }

  /** Makes the session of an agent whose hello was accepted. */
  welcome({ channel, admitted, hello }: Accepted): Session {
    const { agentId, launchId } = admitted.launch;
    const session = new Session({
      context: this.context,
      channel,
      admitted,
      hello: hello.payload,
      onEnd: (ended, reason) => this.#ended(ended, reason),
    });
    const before = this.#sessions.get(agentId);
    before?.goodbye({
      code: RuntimeErrorCode.AgentLost,
      message: "another session of the agent took its place",
    });
    admitted.end = (reason) => session.goodbye(reason);
    this.context.audit.record({
      action: "agent.connected",
      outcome: "ok",
      agent_id: agentId,
      session_id: session.sessionId,
      details: { launch_id: launchId, superseded: before !== undefined },
    });
    session.open(hello.id);
    this.#sessions.set(agentId, session);
    session.notifyConnected();
    return session;
  }

  admit(launch: Launch, observer: LaunchObserver): Admission {
    if (this.isClosing) throw new ConnectionClosedError("the core is closing");
    if (!AgentIdSchema.safeParse(launch.agentId).success) {
      throw new InvalidArgumentError("agentId must be an agent id as in a manifest");
    }
    if (typeof launch.launchId !== "string" || launch.launchId === "" || launch.launchId.length > 256) {
      throw new InvalidArgumentError("launchId must be a string of 1 to 256 characters");
    }
    const { token, admitted } = this.admissions.add(launch, observer);
    this.context.audit.sink?.addSecret(token);
    this.context.redactor.addSecret(token);
    this.#auditLaunch("agent.admitted", admitted);
    return {
      token,
      revoke: (reason) => {
        if (!this.#revoke(admitted, reason)) return;
        this.context.audit.sink?.removeSecret(token);
        this.context.redactor.removeSecret(token);
      },
    };
  }

  call(toolId: string, input: unknown, options?: CallOptions): ToolCall {
    return this.#router.call(toolId, input, options);
  }

  check(toolId: string, input: unknown, options?: CallOptions): Promise<CallResult | undefined> {
    return this.#router.check(toolId, input, options);
  }

  /** Why an agent gets no calls at the moment. */
  refusal(_agentId: string): CallResult | undefined {
    return undefined;
  }

  /** The agent was launched, whether or not it ever connected. */
  expects(agentId: string): boolean {
    return this.admissions.hasAgent(agentId);
  }

  get directives(): Directives {
    return this.context.directives;
  }

  tools(): readonly ToolInfo[] {
    return [...this.#sessions.values()].flatMap((session) => session.tools.infos());
  }

  agents(): readonly AgentInfo[] {
    return Array.from(this.#sessions.values(), ({ info }) => info);
  }

  session(agentId: string): Session | undefined {
    return this.#sessions.get(agentId);
  }

  async ping(agentId: string, options: { readonly timeoutMs?: number } = {}): Promise<number> {
    const timeoutMs = checkNumber("timeoutMs", options.timeoutMs ?? 5000);
    const session = this.#sessions.get(agentId);
    if (!session) throw new ConnectionClosedError(`the agent ${agentId} has no session`);
    return await session.ping(timeoutMs);
  }

  goodbye(agentId: string, { reason }: { readonly reason: string }): boolean {
    const session = this.#sessions.get(agentId);
    session?.goodbye({ code: "core.goodbye", message: reason });
    return session !== undefined;
  }

  async drain(options: { readonly timeoutMs?: number } = {}): Promise<void> {
    const timeoutMs = checkNumber("timeoutMs", options.timeoutMs ?? 30_000, { min: 0 });
    this.isClosing = true;
    if (!this.#closing) {
      this.context.audit.record({ action: "core.draining", outcome: "ok" });
      await this.whenIdle(undefined, timeoutMs);
    }
    await this.close();
  }

  /** Settles when an agent, or all of them, have no call; at the latest after `timeoutMs`. */
  async whenIdle(agentId?: string, timeoutMs = Number.POSITIVE_INFINITY): Promise<void> {
    const sessions = [...this.#sessions.values()].filter((session) =>
      agentId === undefined ? true : session.agentId === agentId,
    );
    const idle = Promise.all(sessions.map(({ calls }) => calls.whenIdle()));
    await settleWithin(idle, { name: "drain", timeoutMs, clock: this.context.clock });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close().then(this.#closed.resolve);
    return this.#closing;
  }

  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.isClosing = true;
    const reason = { code: RuntimeErrorCode.CoreClosed, message: "the core is closing" };
    for (const session of [...this.#sessions.values()]) session.goodbye(reason);
    for (const connection of [...this.#greeting]) connection.close();
    for (const admitted of this.admissions.all()) this.admissions.remove(admitted);
    await Promise.all(this.#open);
    this.context.audit.record({ action: "core.closed", outcome: "ok" });
  }

  #ended(session: Session, reason: DisconnectReason): void {
    const { agentId } = session;
    // Another session of the agent may have taken its place already.
    if (this.#sessions.get(agentId) === session) this.#sessions.delete(agentId);
    this.context.audit.record({
      action: "agent.disconnected",
      outcome:
        reason.code === RuntimeErrorCode.CoreClosed || reason.code === "core.goodbye" ? "ok" : "failed",
      agent_id: agentId,
      session_id: session.sessionId,
      duration_ms: this.context.clock.elapsedMs() - session.openedMs,
      details: { code: reason.code, suppressed: session.auditBudget.suppressed },
    });
  }

  #revoke(admitted: AdmittedLaunch, reason: DisconnectReason | undefined): boolean {
    if (!this.admissions.remove(admitted)) return false;
    admitted.end?.(reason ?? { code: RuntimeErrorCode.AgentLost, message: "the launch is over" });
    this.#auditLaunch("agent.revoked", admitted, reason?.code);
    return true;
  }

  #auditLaunch(action: string, { launch }: AdmittedLaunch, code?: string): void {
    const details = { launch_id: launch.launchId, code };
    this.context.audit.record({ action, outcome: "ok", agent_id: launch.agentId, details });
  }
}
