import { type AgentHeartbeat, RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { Watches, type WatchOptions } from "@harnesskit/wire";
import type { DisconnectReason } from "./admissions.ts";
import type { CoreContext } from "./core-context.ts";
import type { ToolInfo } from "./judge-tool.ts";
import type { AgentStatus, Session } from "./session.ts";

/** An agent with a session. */
export interface AgentInfo {
  readonly agentId: string;
  readonly agentVersion: string;
  readonly sessionId: string;
  readonly launchId: string;
  readonly status: AgentStatus;
  readonly tools: number;
  /** What its last heartbeat says: how long it runs, and how many calls. Absent before the first. */
  readonly heartbeat?: Pick<AgentHeartbeat["payload"], "uptime_ms" | "inflight_calls"> | undefined;
  /** Calls that it runs, and calls that wait for it. */
  readonly inflight: number;
  readonly waiting: number;
}

const allTools = "tools";

/** The agents that have a session, and the watches of their tools. */
export class Agents {
  closing = false;
  readonly #context: CoreContext;
  readonly #sessions = new Map<string, Session>();
  readonly #toolWatches: Watches<readonly ToolInfo[]>;

  constructor(context: CoreContext) {
    this.#context = context;
    this.#toolWatches = new Watches(context.limits.maxWatchers);
  }

  session(agentId: string): Session | undefined {
    return this.#sessions.get(agentId);
  }

  sessions(): Session[] {
    return [...this.#sessions.values()];
  }

  add(session: Session): void {
    this.#sessions.set(session.agentId, session);
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

  toolsChanged(): void {
    if (this.#toolWatches.size > 0) this.#toolWatches.push(allTools, this.tools());
  }

  ended(session: Session, reason: DisconnectReason): void {
    const { agentId } = session;
    // Another session of the agent may have taken its place already.
    if (this.#sessions.get(agentId) === session) {
      this.#sessions.delete(agentId);
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
    this.#toolWatches.close();
  }
}

const infoOf = (session: Session): AgentInfo => ({
  agentId: session.agentId,
  agentVersion: session.hello.agent_version,
  sessionId: session.sessionId,
  launchId: session.admitted.launch.launchId,
  status: session.status,
  heartbeat: session.lastHeartbeat,
  tools: session.tools.size,
  inflight: session.calls.inflight,
  waiting: session.calls.waiting,
});
