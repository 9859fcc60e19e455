import type { AgentHeartbeat, CoreMessage, CoreWelcome } from "@harnesskit/protocol/runtime";
import type { HarnessError } from "@harnesskit/wire";
import type { AgentCore } from "./agent-core.ts";
import { startHeartbeat } from "./heartbeat.ts";
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
  readonly #stopHeartbeat: () => void;
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
    this.#stopHeartbeat = startHeartbeat({
      core,
      intervalMs: welcome.heartbeat_interval_ms,
      sessionId: welcome.session_id,
      inflight: () => this.#calls.inflight,
      waiting: () => outbox.waiting,
      send: (payload) => this.#heartbeat(payload),
    });
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

  /** At most one heartbeat waits for a slow core. */
  #heartbeat(payload: AgentHeartbeat["payload"]): void {
    if (this.#isHeartbeatWaiting) return;
    this.#isHeartbeatWaiting = true;
    this.#outbox.push({
      bytes: 512,
      take: () => {
        this.#isHeartbeatWaiting = false;
        return toMessage(this.#core.clock.now(), "agent.heartbeat", payload);
      },
    });
  }
}
