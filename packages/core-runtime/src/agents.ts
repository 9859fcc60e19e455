import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { BoundedMap, Watches, type WatchOptions } from "@harnesskit/wire";
import type { AgentInfo, SessionHealth } from "./agent-state.ts";
import type { CoreContext } from "./core-context.ts";
import type { ToolInfo } from "./judge-tool.ts";
import type { DisconnectReason } from "./launch-port.ts";
import type { Session } from "./session.ts";

/** Agents whose last registrations are remembered, so that a changed schema is noticed after a restart. */
const maxRememberedAgents = 1024;

const allTools = "tools";

/** The agents that have a session, and the watches of them. */
export class Agents {
  closing = false;
  readonly #context: CoreContext;
  readonly #sessions = new Map<string, Session>();
  /** Of agents that may come back. */
  readonly #disconnected = new Map<string, SessionHealth>();
  readonly #knownDigests = new BoundedMap<string, BoundedMap<string, string>>({
    maxSize: maxRememberedAgents,
  });
  readonly #isAdmitted: (agentId: string) => boolean;
  readonly #healthWatches: Watches<SessionHealth>;
  readonly #toolWatches: Watches<readonly ToolInfo[]>;

  constructor(context: CoreContext, isAdmitted: (agentId: string) => boolean) {
    this.#context = context;
    this.#isAdmitted = isAdmitted;
    this.#healthWatches = new Watches(context.limits.maxWatchers);
    this.#toolWatches = new Watches(context.limits.maxWatchers);
  }

  session(agentId: string): Session | undefined {
    return this.#sessions.get(agentId);
  }

  sessions(): Session[] {
    return [...this.#sessions.values()];
  }

  knows(agentId: string): boolean {
    return this.#knownDigests.has(agentId) || this.#isAdmitted(agentId);
  }

  /** What this agent registered last, for its next session. */
  knownDigests(agentId: string): BoundedMap<string, string> {
    const known =
      this.#knownDigests.touch(agentId) ?? new BoundedMap({ maxSize: this.#context.limits.maxTools });
    this.#knownDigests.set(agentId, known);
    return known;
  }

  add(session: Session): void {
    this.#sessions.set(session.agentId, session);
    this.#disconnected.delete(session.agentId);
    this.healthChanged(session, undefined);
  }

  /** The agent will not reconnect: its last state is dropped. */
  forget(agentId: string): void {
    if (!this.#isAdmitted(agentId)) this.#disconnected.delete(agentId);
  }

  tools(): ToolInfo[] {
    return this.sessions().flatMap((session) => session.tools.infos());
  }

  infos(): AgentInfo[] {
    return this.sessions().map(infoOf);
  }

  watchTools(options?: WatchOptions): AsyncIterableIterator<readonly ToolInfo[]> {
    return this.#toolWatches.open([[allTools, this.tools()]], options);
  }

  watchHealth(options?: WatchOptions): AsyncIterableIterator<SessionHealth> {
    const present = this.sessions().map((session): [string, SessionHealth] => [
      session.agentId,
      healthOf(session, undefined),
    ]);
    return this.#healthWatches.open([...present, ...this.#disconnected], options);
  }

  toolsChanged(): void {
    if (this.#toolWatches.size > 0) this.#toolWatches.push(allTools, this.tools());
  }

  healthChanged(session: Session, reason: string | undefined): void {
    this.#healthWatches.push(session.agentId, healthOf(session, reason));
  }

  ended(session: Session, reason: DisconnectReason): void {
    const { agentId } = session;
    // Another session of the agent may have taken its place already.
    if (this.#sessions.get(agentId) === session) {
      this.#sessions.delete(agentId);
      const health: SessionHealth = { agentId, status: "disconnected", reason: reason.message };
      if (this.#isAdmitted(agentId)) this.#disconnected.set(agentId, health);
      this.#healthWatches.push(agentId, health);
      if (session.tools.size > 0) this.toolsChanged();
    }
    this.#context.audit.record({
      action: "agent.disconnected",
      outcome:
        reason.code === RuntimeErrorCode.CoreClosed || reason.code === "core.goodbye" ? "ok" : "failed",
      agent_id: agentId,
      session_id: session.sessionId,
      duration_ms: this.#context.clock.elapsedMs() - session.openedMs,
      details: { code: reason.code, suppressed: session.auditBudget.suppressed },
    });
  }

  /** Ends all watches. */
  close(): void {
    this.#healthWatches.close();
    this.#toolWatches.close();
  }
}

const healthOf = (session: Session, reason: string | undefined): SessionHealth => ({
  agentId: session.agentId,
  status: session.status,
  sessionId: session.sessionId,
  reason,
});

const infoOf = (session: Session): AgentInfo => ({
  agentId: session.agentId,
  agentVersion: session.hello.agent_version,
  sessionId: session.sessionId,
  launchId: session.admitted.launch.launchId,
  status: session.status,
  connectedAt: session.openedAt,
  capabilities: session.hello.protocol.capabilities,
  sdk: session.hello.sdk,
  heartbeat: session.lastHeartbeat,
  tools: session.tools.size,
  inflight: session.calls.inflight,
  waiting: session.calls.waiting,
});
