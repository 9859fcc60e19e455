import { randomUUID } from "node:crypto";
import type { AuditEntryInput } from "@harnesskit/audit";
import {
  type AgentHeartbeat,
  type AgentHello,
  RUNTIME_PROTOCOL_VERSION,
  type RuntimeError,
  RuntimeErrorCode,
} from "@harnesskit/protocol/runtime";
import {
  type Channel,
  ConnectionClosedError,
  createDeferred,
  type Deferred,
  type HarnessError,
} from "@harnesskit/wire";
import { startDeadline, within } from "@harnesskit/wire/time";
import type { AdmittedLaunch, DisconnectReason, LaunchObserver } from "./admissions.ts";
import type { AgentSessions } from "./agent-sessions.ts";
import { AuditBudget } from "./audit-budget.ts";
import type { Call } from "./call.ts";
import { coreResult } from "./call-result.ts";
import { type OutgoingMessage, toMessage } from "./core-message.ts";
import { SessionCalls } from "./session-calls.ts";
import { SessionInbox } from "./session-inbox.ts";
import { ToolRegistry } from "./tool-registry.ts";

/** How an agent is: as it reports, or `unhealthy` when its heartbeats stop. */
export type AgentStatus = "ok" | "degraded" | "unhealthy";

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

/** A connection whose hello was accepted. */
export interface SessionOptions {
  readonly channel: Channel;
  readonly admitted: AdmittedLaunch;
  readonly hello: AgentHello;
}

/** One agent's connection after its hello. */
export class Session {
  readonly agentId: string;
  readonly sessionId = randomUUID();
  /** By `elapsedMs` of the clock. */
  readonly openedMs: number;
  readonly admitted: AdmittedLaunch;
  readonly calls: SessionCalls;
  readonly tools: ToolRegistry;
  readonly auditBudget: AuditBudget;
  status: AgentStatus = "ok";
  /** It takes no more calls, and ends with those that it has. */
  isDraining = false;
  readonly #core: AgentSessions;
  readonly #channel: Channel;
  readonly #hello: AgentHello;
  readonly #inbox: SessionInbox;
  readonly #pings = new Map<string, Deferred<void>>();
  #lastHeartbeat: AgentInfo["heartbeat"];
  #lastSent: Promise<void> | undefined;
  #cancelTimer: (() => void) | undefined;
  #missed = false;
  #ended = false;

  constructor(core: AgentSessions, { channel, admitted, hello }: SessionOptions) {
    const { context } = core;
    this.#core = core;
    this.#channel = channel;
    this.#hello = hello;
    this.admitted = admitted;
    this.agentId = admitted.launch.agentId;
    this.openedMs = context.clock.elapsedMs();
    this.auditBudget = new AuditBudget(context);
    this.calls = new SessionCalls(context, this, admitted.launch.manifest);
    this.tools = new ToolRegistry(this.agentId, context.limits);
    this.#inbox = new SessionInbox(context, this);
    admitted.end = (reason) => this.goodbye(reason);
  }

  get routable(): boolean {
    return !this.#ended && this.status !== "unhealthy";
  }

  get info(): AgentInfo {
    return {
      agentId: this.agentId,
      agentVersion: this.#hello.payload.agent_version,
      sessionId: this.sessionId,
      launchId: this.admitted.launch.launchId,
      status: this.status,
      heartbeat: this.#lastHeartbeat,
      tools: this.tools.size,
      inflight: this.calls.inflight,
      waiting: this.calls.waiting,
    };
  }

  /** Sends the welcome, and expects heartbeats from now on. */
  open(): void {
    const { times, limits, options, instanceId, clock } = this.#core.context;
    const { sessionId } = this;
    const payload = {
      accepted_version: RUNTIME_PROTOCOL_VERSION,
      session_id: sessionId,
      heartbeat_interval_ms: times.heartbeatIntervalMs,
      max_frame_bytes: limits.maxFrameBytes,
      server: { core_version: options.coreVersion ?? "0.0.0", instance_id: instanceId },
    };
    this.send(toMessage(clock, "core.welcome", payload, { in_reply_to: this.#hello.id }));
    this.#expectHeartbeat();
    const { agent_version: agentVersion } = this.#hello.payload;
    this.#notify((observer) => observer.connected({ sessionId, agentVersion }));
  }

  /** Takes no more calls. Settles when it has none. */
  drain(): Promise<void> {
    this.isDraining = true;
    return this.calls.whenIdle();
  }

  /** A promise holds back what follows. */
  receive(message: unknown): void | Promise<void> {
    return this.#ended ? undefined : this.#inbox.take(message);
  }

  frameError(error: HarnessError): void {
    if (!this.#ended) this.#inbox.takeFrameError(error);
  }

  channelClosed(error: HarnessError | undefined): void {
    this.end({
      code: error?.code === "frame_too_large" ? RuntimeErrorCode.FrameTooLarge : RuntimeErrorCode.AgentLost,
      message: error ? `the connection broke: ${error.message}` : "the agent closed the connection",
    });
  }

  /** Sends; `call` is the one whose message it is. */
  send(message: OutgoingMessage, call?: Call): void {
    const sent = this.#channel.send(message);
    // Messages that leave together share one promise; a refused message has its own.
    if (sent === this.#lastSent) return;
    this.#lastSent = sent;
    sent.catch((error: HarnessError) => {
      if (error.code === "buffer_full") {
        this.end({ code: RuntimeErrorCode.Unresponsive, message: "the agent does not read" });
      } else if (call && (error.code === "frame_too_large" || error.code === "invalid_argument")) {
        this.calls.unsendable(call);
      }
    });
  }

  toolsChanged(): void {
    const toolIds = this.tools.ids();
    this.#notify((observer) => observer.registered(toolIds));
  }

  /** Resolves with the milliseconds until the pong came. Rejects with `request_timeout`, or `connection_closed` when the session ends. */
  async ping(timeoutMs: number): Promise<number> {
    const { clock } = this.#core.context;
    const sentMs = clock.elapsedMs();
    const ping = toMessage(clock, "core.ping", {}, { request_id: randomUUID() });
    const pong = createDeferred<void>();
    this.#pings.set(ping.id, pong);
    this.send(ping);
    try {
      await within(pong.promise, { name: "core.ping", timeoutMs, clock });
      return clock.elapsedMs() - sentMs;
    } finally {
      this.#pings.delete(ping.id);
    }
  }

  pong(pingId: string): void {
    this.#pings.get(pingId)?.resolve();
  }

  heartbeat({ status, uptime_ms, inflight_calls }: AgentHeartbeat["payload"]): void {
    this.#missed = false;
    this.#lastHeartbeat = { uptime_ms, inflight_calls };
    this.#expectHeartbeat();
    this.#setStatus(status, status === "ok" ? undefined : "reported by the agent");
  }

  /** Sends `core.goodbye`, and ends the session. */
  goodbye(reason: DisconnectReason): void {
    if (this.#ended) return;
    const payload = { reason: reason.message.slice(0, 1024) };
    this.send(toMessage(this.#core.context.clock, "core.goodbye", payload));
    this.end(reason);
  }

  /** Answers with an error and ends the session. */
  refuse(error: RuntimeError, inReplyTo: string | undefined): void {
    if (this.#ended) return;
    this.send(toMessage(this.#core.context.clock, "core.error", {}, { error, in_reply_to: inReplyTo }));
    this.end(error);
  }

  /** Ends the session: every call of it is settled now, whatever the connection does. Idempotent. */
  end(reason: DisconnectReason): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cancelTimer?.();
    this.admitted.end = undefined;
    for (const pong of this.#pings.values()) pong.reject(new ConnectionClosedError());
    const { AgentLost, AgentUnavailable, CoreClosed } = RuntimeErrorCode;
    const codeOr = (other: RuntimeErrorCode) => (reason.code === CoreClosed ? CoreClosed : other);
    this.calls.endAll(
      ({ isRepeatable: retryable }) =>
        coreResult(codeOr(AgentLost), `the connection to the agent ended: ${reason.message}`, { retryable }),
      coreResult(codeOr(AgentUnavailable), `the agent is gone: ${reason.message}`, { retryable: true }),
    );
    void this.#channel.close();
    this.#notify((observer) => observer.disconnected({ code: reason.code, message: reason.message }));
    this.#core.ended(this, reason);
  }

  /** Records what the agent caused, within its budget. */
  record(entry: Omit<AuditEntryInput, "agent_id" | "session_id">): void {
    const { agentId: agent_id, sessionId: session_id } = this;
    this.auditBudget.record({ ...entry, agent_id, session_id });
  }

  #expectHeartbeat(): void {
    const { clock, times } = this.#core.context;
    const missed = () => {
      this.#missed = true;
      this.#setStatus("unhealthy", "heartbeats were missed");
    };
    this.#cancelTimer?.();
    this.#cancelTimer = startDeadline(times.heartbeatIntervalMs * times.missedHeartbeats, missed, { clock });
  }

  #setStatus(status: AgentStatus, reason: string | undefined): void {
    if (this.status === status || this.#ended) return;
    this.status = status;
    const details = { status, missed: this.#missed };
    this.record({ action: "agent.health", outcome: status === "ok" ? "ok" : "failed", details });
    if (status === "unhealthy") {
      const unavailable = "the agent is unhealthy";
      this.calls.endWaiting(coreResult(RuntimeErrorCode.AgentUnavailable, unavailable, { retryable: true }));
    }
    this.#notify((observer) => observer.health(status, reason));
  }

  /** An observer that throws does not end the agent's session. */
  #notify(call: (observer: LaunchObserver) => unknown): void {
    this.#core.context.notify(this.agentId, () => call(this.admitted.observer));
  }
}
