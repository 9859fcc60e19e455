import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { type Channel, ConnectionClosedError, checkNumber, createDeferred } from "@harnesskit/wire";
import { settleWithin } from "@harnesskit/wire/time";
import {
  type Admission,
  Admissions,
  type AdmittedLaunch,
  type DisconnectReason,
  type Launch,
  type LaunchObserver,
} from "./admissions.ts";
import { AuditBudget } from "./audit-budget.ts";
import type { ToolCall } from "./call.ts";
import type { CallOptions } from "./call-options.ts";
import type { CallResult } from "./call-result.ts";
import { CallRouter } from "./call-router.ts";
import { AgentConnection } from "./connection.ts";
import type { CoreContext } from "./core-context.ts";
import type { Directives } from "./directives.ts";
import type { ToolInfo } from "./judge-tool.ts";
import { type AgentInfo, Session, type SessionOptions } from "./session.ts";

/** What a core does beside running processes. */
export class RuntimeCore {
  /** It takes no more calls and launches. */
  isClosing = false;
  /** For all connections without a session together. */
  readonly auditBudget: AuditBudget;
  readonly #admissions: Admissions;
  /** Of each agent the session that it has now. */
  readonly #sessions = new Map<string, Session>();
  readonly #router: CallRouter;
  readonly #greeting = new Set<AgentConnection>();
  readonly #open = new Set<Promise<unknown>>();
  readonly #closed = createDeferred<void>();
  #closing: Promise<void> | undefined;

  constructor(readonly context: CoreContext) {
    this.#admissions = new Admissions(context);
    this.auditBudget = new AuditBudget(context);
    this.#router = new CallRouter(this);
  }

  connect(channel: Channel): void {
    const { limits } = this.context;
    if (this.#closing || this.#greeting.size >= limits.maxUnauthenticatedConnections) {
      if (!this.#closing) {
        const details = { limit: "maxUnauthenticatedConnections" };
        this.auditBudget.record({ action: "agent.refused", outcome: "limited", details });
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

  /** The launch of the token, which is used up; or why it is refused. */
  redeem(token: string, agentId: string): AdmittedLaunch | string {
    return this.#admissions.redeem(token, agentId);
  }

  /** Makes the session of an agent whose hello was accepted. */
  welcome(accepted: SessionOptions): Session {
    const session = new Session(this, accepted);
    const { agentId, admitted } = session;
    const before = this.#sessions.get(agentId);
    before?.goodbye({
      code: RuntimeErrorCode.AgentLost,
      message: "another session of the agent took its place",
    });
    this.context.audit?.record({
      action: "agent.connected",
      outcome: "ok",
      agent_id: agentId,
      session_id: session.sessionId,
      details: { launch_id: admitted.launch.launchId, superseded: before !== undefined },
    });
    this.#sessions.set(agentId, session);
    session.open();
    return session;
  }

  /** The session is over. */
  ended(session: Session, { code }: DisconnectReason): void {
    const { agentId } = session;
    // Another session of the agent may have taken its place already.
    if (this.#sessions.get(agentId) === session) this.#sessions.delete(agentId);
    this.context.audit?.record({
      action: "agent.disconnected",
      outcome: code === RuntimeErrorCode.CoreClosed || code === "core.goodbye" ? "ok" : "failed",
      agent_id: agentId,
      session_id: session.sessionId,
      duration_ms: this.context.clock.elapsedMs() - session.openedMs,
      details: { code, suppressed: session.auditBudget.suppressed },
    });
  }

  admit(launch: Launch, observer: LaunchObserver): Admission {
    if (this.isClosing) throw new ConnectionClosedError("the core is closing");
    return this.#admissions.admit(launch, observer);
  }

  call(toolId: string, input: unknown, options?: CallOptions): ToolCall {
    return this.#router.call(toolId, input, options);
  }

  check(toolId: string, input: unknown, options?: CallOptions): Promise<CallResult | undefined> {
    return this.#router.check(toolId, input, options);
  }

  /** The agent was launched, whether or not it ever connected. */
  expects(agentId: string): boolean {
    return this.#admissions.hasAgent(agentId);
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
      const { audit, clock } = this.context;
      audit?.record({ action: "core.draining", outcome: "ok" });
      const idle = Promise.all(Array.from(this.#sessions.values(), (session) => session.drain()));
      await settleWithin(idle, { name: "drain", timeoutMs, clock });
    }
    await this.close();
  }

  close(): Promise<void> {
    this.isClosing = true;
    this.#closing ??= this.end().then(this.#closed.resolve);
    return this.#closing;
  }

  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Ends what the core has; called once. */
  protected async end(): Promise<void> {
    const reason = { code: RuntimeErrorCode.CoreClosed, message: "the core is closing" };
    for (const session of [...this.#sessions.values()]) session.goodbye(reason);
    for (const connection of [...this.#greeting]) connection.close();
    this.#admissions.clear();
    await Promise.all(this.#open);
    this.context.audit?.record({ action: "core.closed", outcome: "ok" });
  }
}
