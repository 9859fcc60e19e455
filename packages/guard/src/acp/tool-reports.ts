import { type AcpToolCall, acpAction } from "@harnesskit/agent-hooks/acp";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { BoundedMap, BoundedSet } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { idKey, objectOf } from "../proxy/rpc-message.ts";
import { type ActionOutcome, boundedResult, type ProxiedAction } from "../proxy/rulings.ts";
import type { AcpPeers } from "./acp-peers.ts";
import type { AcpSessions } from "./sessions.ts";

/** A tool call that an agent has begun. */
interface RunningCall {
  readonly call: AcpToolCall & JsonObject;
  readonly session: string;
  readonly startedMs: number;
  /** The action that a permission was given for. */
  readonly action?: ProxiedAction;
}

const outcomes: ReadonlySet<unknown> = new Set(["completed", "failed"]);

/** Records what an agent reports of its tool calls: of those that it had to ask for, and of those that it made by itself. */
export class AcpToolReports {
  readonly #peers: AcpPeers;
  readonly #sessions: AcpSessions;
  readonly #running: BoundedMap<string, RunningCall>;
  readonly #ended: BoundedSet<string>;

  constructor(peers: AcpPeers, sessions: AcpSessions) {
    this.#peers = peers;
    this.#sessions = sessions;
    const maxSize = peers.limits.maxFollowed;
    this.#running = new BoundedMap({ maxSize });
    this.#ended = new BoundedSet({ maxSize });
  }

  /** Whether the editor knows the call. */
  isKnown(session: string, toolCallId: string): boolean {
    return this.#running.has(idKey([session, toolCallId]));
  }

  /** A permission was given; the outcome follows in an update. */
  allow(session: string, toolCall: AcpToolCall, action: ProxiedAction): void {
    const key = idKey([session, toolCall.toolCallId]);
    this.#ended.delete(key);
    const { call } = this.#running.get(key) ?? {};
    this.#running.set(key, {
      call: { ...call, ...(toolCall as AcpToolCall & JsonObject) },
      session,
      startedMs: this.#peers.clock.elapsedMs(),
      action,
    });
  }

  /** A permission was refused: what follows of the call is not a call of its own. */
  refuse(session: string, toolCallId: string): void {
    const key = idKey([session, toolCallId]);
    this.#running.delete(key);
    this.#ended.add(key);
  }

  /** The parameters of a `session/update`. */
  observe(params: JsonValue | undefined): void {
    const { sessionId, update } = objectOf(params);
    const { sessionUpdate, ...call } = objectOf(update);
    const { toolCallId } = call;
    if (sessionUpdate !== "tool_call" && sessionUpdate !== "tool_call_update") return;
    if (typeof sessionId !== "string" || typeof toolCallId !== "string") return;
    const key = idKey([sessionId, toolCallId]);
    if (this.#ended.has(key)) return;
    const before = this.#running.get(key);
    const given = Object.fromEntries(Object.entries(call).filter(([, value]) => value !== null));
    const merged = { ...before?.call, ...given, toolCallId };
    const running = {
      startedMs: this.#peers.clock.elapsedMs(),
      ...before,
      session: sessionId,
      call: merged,
    } as RunningCall;
    if (!outcomes.has(call.status)) {
      this.#running.set(key, running);
      return;
    }
    this.#end(key, running, this.#outcomeOf(running, call.status));
  }

  /** A turn has ended: what has no outcome by now gets none. */
  turnEnded(session: string): void {
    for (const [key, running] of [...this.#running]) {
      if (running.session !== session) continue;
      this.#end(key, running, { outcome: "unknown", error: "the turn ended without an outcome" });
    }
  }

  close(): void {
    for (const [key, running] of [...this.#running]) {
      this.#end(key, running, { outcome: "unknown", error: "the proxy ended before the call" });
    }
  }

  #outcomeOf({ call }: RunningCall, status: unknown): ActionOutcome {
    const { rawOutput, content } = call;
    const result = boundedResult(rawOutput ?? content ?? null, this.#peers.limits.maxReportBytes);
    return status === "completed"
      ? { outcome: "success", result }
      : { outcome: "error", error: "the agent reports that the call failed", result };
  }

  #end(key: string, running: RunningCall, outcome: ActionOutcome): void {
    this.#running.delete(key);
    this.#ended.add(key);
    const { judge, clock } = this.#peers;
    judge.report(
      running.action ?? this.#reported(key, running),
      outcome,
      clock.elapsedMs() - running.startedMs,
    );
  }

  /** A call that was made without a question. */
  #reported(key: string, { call, session }: RunningCall): ProxiedAction {
    const workspace = this.#sessions.workspaceOf(session);
    const { agent } = this.#sessions;
    const { tool, kind, arguments: args, server } = acpAction(call, { workspace, agent });
    const title = typeof call.title === "string" ? { title: call.title.slice(0, 1000) } : {};
    return {
      tool,
      kind,
      callId: key.slice(0, 256),
      arguments: objectOf(args),
      session,
      details: server === undefined ? undefined : { server },
      metadata: defined({
        host: "acp",
        acp_method: "session/update",
        reported: true,
        ...title,
        acp_agent: agent,
        workspace,
      }),
    };
  }
}
