import { randomUUID } from "node:crypto";
import { type AgentHello, type RuntimeError, RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { type Channel, type HarnessError, quietly } from "@harnesskit/wire";
import type { AdmittedLaunch } from "./admissions.ts";
import { AuditBudget } from "./audit-trail.ts";
import type { Call } from "./call.ts";
import { type CallResult, failure } from "./call-result.ts";
import type { CoreContext } from "./core-context.ts";
import type { Deadline } from "./deadlines.ts";
import type { DisconnectReason } from "./launch-port.ts";
import type { MessageFactory, OutgoingMessage } from "./message-factory.ts";
import type { RegisteredTool } from "./registered-tool.ts";
import { type CallCarrier, isSafeToRepeat, SessionCalls } from "./session-calls.ts";
import { SessionInbox } from "./session-inbox.ts";
import { SessionPings } from "./session-pings.ts";
import { ToolRegistry } from "./tool-registry.ts";

/** How an agent is, as it says or as its silence does. */
export type AgentStatus = "ok" | "degraded" | "unhealthy";

/** What a session reports to its core. */
export interface SessionEvents {
  toolsChanged(): void;
  healthChanged(session: Session, reason: string | undefined): void;
  ended(session: Session, reason: DisconnectReason): void;
}

/** One agent's connection after its hello. */
export class Session implements CallCarrier, Deadline {
  readonly agentId: string;
  readonly agentVersion: string;
  readonly sessionId: string;
  readonly openedAt: number;
  readonly admitted: AdmittedLaunch;
  readonly hello: AgentHello["payload"];
  readonly manifestDrift: boolean;
  readonly messages: MessageFactory;
  readonly calls: SessionCalls;
  readonly tools: ToolRegistry;
  readonly auditBudget: AuditBudget;
  readonly pings: SessionPings;
  readonly closed: Promise<unknown>;
  status: AgentStatus = "ok";
  dueAt = 0;
  position = -1;
  readonly #context: CoreContext;
  readonly #channel: Channel;
  readonly #events: SessionEvents;
  readonly #inbox: SessionInbox;
  #lastSent: Promise<void> | undefined;
  #missed = false;
  #ended = false;

  constructor(options: {
    readonly context: CoreContext;
    readonly channel: Channel;
    readonly admitted: AdmittedLaunch;
    readonly hello: AgentHello["payload"];
    readonly manifestDrift: boolean;
    readonly knownDigests: Map<string, string>;
    readonly messages: MessageFactory;
    readonly events: SessionEvents;
  }) {
    const { context, channel, admitted, hello } = options;
    this.#context = context;
    this.#channel = channel;
    this.#events = options.events;
    this.closed = channel.closed;
    this.admitted = admitted;
    this.hello = hello;
    this.manifestDrift = options.manifestDrift;
    this.agentId = admitted.launch.agentId;
    this.agentVersion = hello.agent_version;
    this.messages = options.messages;
    this.sessionId = randomUUID();
    this.openedAt = context.clock.now();
    this.auditBudget = new AuditBudget(context.clock, context.limits.maxAuditEventsPerMinute);
    this.pings = new SessionPings(context.clock);
    this.calls = new SessionCalls(context, this, admitted.launch.manifest);
    this.tools = new ToolRegistry({
      agentId: this.agentId,
      limits: context.limits,
      validators: context.validators,
      slotsOf: (name) => this.calls.slots.of(name),
      knownDigests: options.knownDigests,
    });
    this.#inbox = new SessionInbox(context, this);
  }

  get routable(): boolean {
    return !this.#ended && this.status !== "unhealthy";
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Lets the agent in: sends the welcome, and waits for heartbeats from now on. */
  open(helloId: string): void {
    const { times, limits, server } = this.#context;
    const payload = {
      accepted_version: 1,
      session_id: this.sessionId,
      heartbeat_interval_ms: times.heartbeatIntervalMs,
      max_frame_bytes: limits.maxFrameBytes,
      server,
    };
    this.send(this.messages.make("core.welcome", payload, { in_reply_to: helloId }));
    this.#expectHeartbeat();
  }

  receive(message: unknown): void {
    if (!this.#ended) this.#inbox.take(message);
  }

  /** What arrived is no message. */
  frameError(error: HarnessError): void {
    if (!this.#ended) this.#inbox.takeFrameError(error);
  }

  channelClosed(error: HarnessError | undefined): void {
    this.end({
      code: error?.code === "frame_too_large" ? RuntimeErrorCode.FrameTooLarge : RuntimeErrorCode.AgentLost,
      message: error ? `the connection broke: ${error.message}` : "the agent closed the connection",
    });
  }

  send(message: OutgoingMessage, refused?: () => void): void {
    const sent = this.#channel.send(message);
    // What leaves together shares one promise; a message that is refused has one of its own.
    if (sent === this.#lastSent) return;
    this.#lastSent = sent;
    sent.catch((error: HarnessError) => {
      if (error.code === "buffer_full") {
        this.end({ code: RuntimeErrorCode.Unresponsive, message: "the agent does not read" });
      } else if (error.code === "frame_too_large" || error.code === "invalid_argument") refused?.();
    });
  }

  findTool(toolId: string): RegisteredTool | undefined {
    return this.tools.get(toolId);
  }

  toolsChanged(): void {
    const toolIds = this.tools.ids();
    this.#tell((observer) => observer.registered(toolIds));
    this.#events.toolsChanged();
  }

  /** See {@link SessionPings.wait}. */
  ping(timeoutMs: number): Promise<number> {
    const ping = this.messages.make("core.ping", {}, { request_id: randomUUID() });
    const pong = this.pings.wait(ping.id, timeoutMs);
    this.send(ping);
    return pong;
  }

  /** A heartbeat came. */
  beat(reported: AgentStatus): void {
    this.#missed = false;
    this.#expectHeartbeat();
    this.#setStatus(reported, reported === "ok" ? undefined : "the agent says so");
  }

  /** Heartbeats were missed. */
  expired(): void {
    this.#missed = true;
    this.#context.stats.missedHeartbeats++;
    this.#setStatus("unhealthy", "heartbeats were missed");
  }

  /** Tells the launch's observer; what it throws is its own affair. */
  tellHealth(reason: string | undefined): void {
    this.#tell((observer) => observer.health(this.status, reason));
  }

  tellConnected(): void {
    const { sessionId, agentVersion } = this;
    this.#tell((observer) => observer.connected({ sessionId, agentVersion }));
  }

  /** Says goodbye, and ends the session. */
  goodbye(reason: DisconnectReason, retryAfterMs?: number): void {
    if (this.#ended) return;
    const retry = retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs };
    this.send(this.messages.make("core.goodbye", { reason: reason.message.slice(0, 1024), ...retry }));
    this.end(reason);
  }

  /** Answers with an error and ends the session. */
  refuse(error: RuntimeError, inReplyTo: string | undefined): void {
    if (this.#ended) return;
    this.send(this.messages.make("core.error", {}, { error, in_reply_to: inReplyTo }));
    this.end(error);
  }

  /** Ends the session: every call of it is settled now, whatever the connection does. Does nothing the second time. */
  end(reason: DisconnectReason): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#context.deadlines.clear(this);
    this.admitted.end = undefined;
    this.pings.close();
    this.calls.endAll((call) => this.#lost(call, reason), this.#unsent(reason));
    void this.#channel.close();
    this.#tell((observer) => observer.disconnected({ code: reason.code, message: reason.message }));
    this.#events.ended(this, reason);
  }

  #lost(call: Call, reason: DisconnectReason): CallResult {
    const code = reason.code === RuntimeErrorCode.CoreClosed ? reason.code : RuntimeErrorCode.AgentLost;
    return failure(code, `the connection to the agent ended: ${reason.message}`, {
      retryable: isSafeToRepeat(call),
    });
  }

  #unsent(reason: DisconnectReason): CallResult {
    const code =
      reason.code === RuntimeErrorCode.CoreClosed ? reason.code : RuntimeErrorCode.AgentUnavailable;
    return failure(code, `the agent is gone: ${reason.message}`, { retryable: true });
  }

  #expectHeartbeat(): void {
    const { clock, deadlines, times } = this.#context;
    deadlines.set(this, clock.now() + times.heartbeatIntervalMs * times.missedHeartbeats);
  }

  #setStatus(status: AgentStatus, reason: string | undefined): void {
    if (this.status === status || this.#ended) return;
    this.status = status;
    this.#context.audit.recordWithin(this.auditBudget, {
      action: "agent.health",
      outcome: status === "ok" ? "ok" : "failed",
      agent_id: this.agentId,
      session_id: this.sessionId,
      details: { status, missed: this.#missed },
    });
    if (status === "unhealthy") {
      const unavailable = "the agent is unhealthy";
      this.calls.endWaiting(failure(RuntimeErrorCode.AgentUnavailable, unavailable, { retryable: true }));
    }
    this.tellHealth(reason);
    this.#events.healthChanged(this, reason);
  }

  #tell(what: (observer: AdmittedLaunch["observer"]) => unknown): void {
    // An observer that fails must not take the agent's session with it.
    quietly(() => what(this.admitted.observer));
  }
}
