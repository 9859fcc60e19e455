import {
  type CoreMessage,
  type CoreToolsRegistered,
  type CoreWelcome,
  RuntimeErrorCode,
  type ToolDeclaration,
} from "@harnesskit/protocol/runtime";
import { createDeferred, type Deferred, HarnessError } from "@harnesskit/wire";
import { within } from "@harnesskit/wire/time";
import type { AgentCore } from "./agent-core.ts";
import type { AgentHealth } from "./agent-options.ts";
import type { RejectedTool } from "./errors.ts";
import { answerTimeoutMs } from "./limits.ts";
import { type Outbox, toMessage } from "./outbox.ts";
import { runtimeError } from "./runtime-error.ts";
import { SessionCalls } from "./session-calls.ts";

/** Which tools the core took, by their ids, and why not the others. */
export interface Registration {
  readonly registered: readonly string[];
  readonly rejected: readonly RejectedTool[];
}

type Answer = CoreToolsRegistered["payload"];

/** What a registration costs beside its tools. */
const envelopeBytes = 512;

/** From the best to the worst. */
const statuses: readonly AgentHealth["status"][] = ["ok", "degraded", "unhealthy"];

/** A session after its welcome: its calls, its registrations (section 4.2) and its heartbeat (section 4.5.1). */
export class OpenedSession {
  readonly welcome: CoreWelcome["payload"];
  readonly #core: AgentCore;
  readonly #outbox: Outbox;
  readonly #calls: SessionCalls;
  /** Registrations that wait for their answers, by the ids of their messages. */
  readonly #registering = new Map<string, Deferred<Answer>>();
  #lost: HarnessError | undefined;
  #stopHeartbeat: () => void;
  #isHeartbeatWaiting = false;

  constructor(core: AgentCore, outbox: Outbox, welcome: CoreWelcome["payload"]) {
    this.welcome = welcome;
    this.#core = core;
    this.#outbox = outbox;
    this.#calls = new SessionCalls(core, outbox, welcome.max_frame_bytes);
    this.#stopHeartbeat = this.#nextHeartbeat();
  }

  handle(message: CoreMessage): void {
    if (message.type === "core.tool.call") this.#calls.begin(message);
    else if (message.type === "core.tool.cancel") this.#calls.cancel(message);
    else if (message.type === "core.tools.registered") {
      // Without `in_reply_to` it belongs to the oldest registration.
      const id = message.in_reply_to ?? this.#registering.keys().next().value;
      this.#registering.get(id ?? "")?.resolve(message.payload);
    }
  }

  /**
   * Registers these tools, in as many messages as their size requires. A tool that is larger than a frame is rejected
   * here. With `more`, the agent is not ready yet. Rejects with `request_timeout`, with the core's `core.error` and when the connection ends.
   */
  async register(tools: readonly ToolDeclaration[], more = false): Promise<Registration> {
    const maxBytes = this.welcome.max_frame_bytes - envelopeBytes;
    const rejected: RejectedTool[] = [];
    const batches: { tools: object[]; bytes: number }[] = [{ tools: [], bytes: 0 }];
    for (const tool of tools) {
      const bytes = Buffer.byteLength(JSON.stringify(tool)) + 1;
      const last = batches.at(-1);
      if (bytes > maxBytes) {
        const error = runtimeError(RuntimeErrorCode.ToolTooLarge, "the declaration exceeds max_frame_bytes");
        rejected.push({ tool_id: tool.tool_id, error });
      } else if (last && last.bytes + bytes <= maxBytes) {
        last.tools.push(tool);
        last.bytes += bytes;
      } else batches.push({ tools: [tool], bytes });
    }
    const answers = await Promise.all(
      batches.map(({ tools, bytes }, at) => this.#register(tools, bytes, more || at < batches.length - 1)),
    );
    return {
      registered: answers.flatMap(({ registered }) => registered),
      rejected: [...rejected, ...answers.flatMap((answer) => answer.rejected ?? [])],
    };
  }

  /** Takes an error in place of an answer. Returns false when it belongs to no registration. */
  fail(inReplyTo: string | undefined, error: HarnessError): boolean {
    const registering = this.#registering.get(inReplyTo ?? "");
    registering?.reject(error);
    return registering !== undefined;
  }

  /** Aborts the calls, and settles when each has its result, at the latest after the grace. */
  stop(graceMs: number): Promise<void> {
    return this.#calls.stop(graceMs);
  }

  /** The connection is lost. */
  close(lost: HarnessError): void {
    this.#lost = lost;
    this.#stopHeartbeat();
    this.#calls.lose(lost);
    for (const registering of this.#registering.values()) registering.reject(lost);
  }

  async #register(tools: readonly object[], bytes: number, more: boolean): Promise<Answer> {
    if (this.#lost) throw this.#lost;
    const payload = { tools, more: more || undefined };
    const id = this.#outbox.send("agent.tools.register", payload, {}, bytes + envelopeBytes);
    const registering = createDeferred<Answer>();
    this.#registering.set(id, registering);
    const wait = { name: "agent.tools.register", timeoutMs: answerTimeoutMs, clock: this.#core.clock };
    try {
      return await within(registering.promise, wait);
    } finally {
      this.#registering.delete(id);
    }
  }

  /** Reports the agent's health once an interval. Returns what ends it. */
  #nextHeartbeat(): () => void {
    return this.#core.clock.after(this.welcome.heartbeat_interval_ms, () => {
      this.#stopHeartbeat = this.#nextHeartbeat();
      this.#heartbeat();
    });
  }

  /** At most one heartbeat waits for a slow core. */
  #heartbeat(): void {
    if (this.#isHeartbeatWaiting) return;
    this.#isHeartbeatWaiting = true;
    this.#outbox.push({
      bytes: 512,
      take: () => {
        this.#isHeartbeatWaiting = false;
        const { clock, startedMs } = this.#core;
        return toMessage(clock.now(), "agent.heartbeat", {
          session_id: this.welcome.session_id,
          uptime_ms: Math.max(0, Math.round(clock.elapsedMs() - startedMs)),
          inflight_calls: this.#calls.inflight,
          ...this.#health(),
        });
      },
    });
  }

  /** The worse of what the agent says of itself and of what is counted: tools that run on after their call has ended. */
  #health(): AgentHealth {
    const { abandonedTools, limits } = this.#core;
    const own = this.#ownHealth();
    const full = abandonedTools >= limits.maxInFlightCalls ? "unhealthy" : "degraded";
    const counted = abandonedTools > 0 ? full : "ok";
    const status = statuses.indexOf(own.status) > statuses.indexOf(counted) ? own.status : counted;
    return { status, details: { ...own.details, abandoned_calls: abandonedTools } };
  }

  #ownHealth(): AgentHealth {
    try {
      return this.#core.settings.health?.() ?? { status: "ok" };
    } catch (cause) {
      this.#core.report(new HarnessError("handler_failed", "health failed", { cause }));
      return { status: "degraded" };
    }
  }
}
