import type { CoreMessage, CoreWelcome } from "@harnesskit/protocol/runtime";
import type { HarnessError } from "@harnesskit/wire";
import type { AgentCore } from "./agent-core.ts";
import { agentHealth } from "./agent-health.ts";
import type { Outbox } from "./outbox.ts";
import { toMessage } from "./outgoing-message.ts";
import { Registrar } from "./registrar.ts";
import { SessionCalls } from "./session-calls.ts";

/** A session after its welcome: its calls, its registrations and its heartbeat. */
export class OpenedSession {
  readonly welcome: CoreWelcome["payload"];
  readonly registrar: Registrar;
  readonly #core: AgentCore;
  readonly #outbox: Outbox;
  readonly #calls: SessionCalls;
  #stopHeartbeat: () => void;
  #isHeartbeatWaiting = false;

  constructor(core: AgentCore, outbox: Outbox, welcome: CoreWelcome["payload"]) {
    const { clock, settings } = core;
    const maxFrameBytes = welcome.max_frame_bytes;
    this.welcome = welcome;
    this.#core = core;
    this.#outbox = outbox;
    this.#calls = new SessionCalls(core, outbox, maxFrameBytes);
    this.registrar = new Registrar({
      clock,
      timeoutMs: settings.registerTimeoutMs,
      maxFrameBytes,
      send: (tools, more, bytes) =>
        outbox.send("agent.tools.register", { tools, more: more || undefined }, {}, bytes),
    });
    this.#stopHeartbeat = this.#nextHeartbeat();
  }

  handle(message: CoreMessage): void {
    if (message.type === "core.tool.call") this.#calls.begin(message);
    else if (message.type === "core.tool.cancel") this.#calls.cancel(message);
    else if (message.type === "core.tools.registered") {
      this.registrar.answer(message.in_reply_to, message.payload);
    }
  }

  /** Aborts the calls, and settles when each has its result, at the latest after the grace. */
  stop(graceMs: number): Promise<void> {
    return this.#calls.stop(graceMs);
  }

  /** The connection is lost. */
  close(lost: HarnessError): void {
    this.#stopHeartbeat();
    this.#calls.lose(lost);
    this.registrar.close(lost);
  }

  /** Reports the agent's health once an interval (section 4.5.1). Returns what ends it. */
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
          ...agentHealth(this.#core),
        });
      },
    });
  }
}
