import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { type Channel, ConnectionClosedError } from "@harnesskit/wire";
import {
  type Admission,
  Admissions,
  type DisconnectReason,
  type Launch,
  type LaunchObserver,
} from "./admissions.ts";
import { AuditBudget } from "./audit-budget.ts";
import { AgentConnection } from "./connection.ts";
import type { CoreContext } from "./core-context.ts";
import { Session, type SessionOptions } from "./session.ts";

/** The connections of a core: which agents may come, those that have not said hello, and those that have a session. */
export class AgentSessions {
  /** The core takes no more calls, launches and connections. */
  isClosing = false;
  /** For all connections without a session together. */
  readonly auditBudget: AuditBudget;
  readonly admissions: Admissions;
  /** Of each agent the session that it has now. */
  readonly #sessions = new Map<string, Session>();
  readonly #greeting = new Set<AgentConnection>();
  readonly #open = new Set<Promise<unknown>>();

  constructor(readonly context: CoreContext) {
    this.admissions = new Admissions(context);
    this.auditBudget = new AuditBudget(context);
  }

  get all(): readonly Session[] {
    return [...this.#sessions.values()];
  }

  session(agentId: string): Session | undefined {
    return this.#sessions.get(agentId);
  }

  /** Throws `invalid_argument`, and `connection_closed` when the core is closing. */
  admit(launch: Launch, observer: LaunchObserver): Admission {
    if (this.isClosing) throw new ConnectionClosedError("the core is closing");
    return this.admissions.admit(launch, observer);
  }

  connect(channel: Channel): void {
    const { limits } = this.context;
    if (this.isClosing || this.#greeting.size >= limits.maxUnauthenticatedConnections) {
      if (!this.isClosing) {
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

  /** Ends all sessions and connections. Settles when they are closed. */
  async close(): Promise<void> {
    const reason = { code: RuntimeErrorCode.CoreClosed, message: "the core is closing" };
    for (const session of this.all) session.goodbye(reason);
    for (const connection of [...this.#greeting]) connection.close();
    this.admissions.clear();
    await Promise.all(this.#open);
  }
}
