import {
  type AgentMessageType,
  type CoreGoodbye,
  type CoreMessage,
  type CoreToolCall,
  type CoreWelcome,
  RUNTIME_PROTOCOL_VERSION,
  type RuntimeError,
  RuntimeErrorCode,
} from "@harnesskit/protocol/runtime";
import {
  type Channel,
  ConnectionClosedError,
  createDeferred,
  HarnessError,
  quietly,
  RequestTimeoutError,
} from "@harnesskit/wire";
import type { AgentCore } from "./agent-core.ts";
import { type MessageFields, toMessage } from "./envelope.ts";
import { CoreRefusedError, CoreReportedError, RuntimeProtocolError, ToolsRejectedError } from "./errors.ts";
import { startHeartbeat } from "./heartbeat.ts";
import { minFrameBytes } from "./limits.ts";
import { Outbox } from "./outbox.ts";
import { readCoreMessage } from "./read-core-message.ts";
import { readToolCall } from "./read-tool-call.ts";
import { Registrar, type Registration } from "./registrar.ts";
import { runtimeError } from "./runtime-error.ts";
import { sdk } from "./sdk.ts";
import { SessionCalls } from "./session-calls.ts";
import { SessionReplies } from "./session-replies.ts";
import type { Tool } from "./tool.ts";
import type { CallOrigin } from "./tool-context.ts";

type Goodbye = CoreGoodbye["payload"];

/** How a connection ended. */
export interface SessionEnd {
  /**
   * `goodbye`: the core said so. `core_gone`: it is gone without a word. `protocol_error`: it broke the protocol.
   * `closed`: this side closed it.
   */
  readonly reason: "goodbye" | "core_gone" | "protocol_error" | "closed";
  readonly error?: HarnessError;
  readonly goodbye?: Goodbye;
}

/** What an open session has. */
interface Opened {
  readonly welcome: CoreWelcome["payload"];
  readonly calls: SessionCalls;
  readonly registrar: Registrar;
  readonly stopHeartbeat: () => void;
}

/** One connection to a core, from `agent.hello` to its end. */
export class Session {
  readonly #core: AgentCore;
  readonly #channel: Channel;
  readonly #token: string;
  readonly #outbox: Outbox;
  readonly #greeted = createDeferred<Opened>();
  readonly #closed = createDeferred<SessionEnd>();
  readonly #drained = createDeferred<void>();
  readonly #cancelTimers: (() => void)[] = [];
  #opened: Opened | undefined;
  #goodbye: Goodbye | undefined;
  /** Why this side gives the connection up. */
  #failure: HarnessError | undefined;
  #state: "open" | "closing" | "closed" = "open";
  #isStopping = false;
  #isHeartbeatWaiting = false;

  constructor(core: AgentCore, channel: Channel, token: string) {
    this.#core = core;
    this.#channel = channel;
    this.#token = token;
    this.#outbox = new Outbox(channel, core.limits);
  }

  /** Settles when the connection has ended; never rejects. */
  get closed(): Promise<SessionEnd> {
    return this.#closed.promise;
  }

  get welcome(): CoreWelcome["payload"] | undefined {
    return this.#opened?.welcome;
  }

  /** Says hello, waits for the welcome and registers the tools. What goes wrong closes the channel and rejects. */
  async open(manifestHash: string | undefined): Promise<Registration> {
    const { settings, clock, tools } = this.#core;
    this.#core.sessions.add(this);
    this.#channel.start({
      message: (message) => this.#received(message),
      error: (error) => this.#channelError(error),
      close: ({ error }) => this.#finish(error),
    });
    this.#hello(manifestHash);
    const { welcomeTimeoutMs } = settings;
    const cancel = clock.after(welcomeTimeoutMs, () =>
      this.#giveUp(new RequestTimeoutError("agent.hello", welcomeTimeoutMs)),
    );
    this.#cancelTimers.push(cancel);
    try {
      const opened = await this.#greeted.promise;
      cancel();
      const registration = await opened.registrar.register(
        tools.all.map((tool) => tool.declarationFor(settings.id)),
      );
      this.#judge(registration);
      return registration;
    } catch (error) {
      await this.#channel.close(this.#failure);
      throw error;
    }
  }

  register(tools: readonly Tool[]): Promise<Registration> {
    const { registrar } = this.#opened ?? {};
    if (!registrar) return Promise.resolve({ registered: [], rejected: [] });
    return registrar.register(tools.map((tool) => tool.declarationFor(this.#core.settings.id)));
  }

  unregister(toolIds: readonly string[]): void {
    if (this.#opened) this.#send({ type: "agent.tools.unregister", payload: { tool_ids: toolIds } });
  }

  /** Aborts the calls, waits for their results, at most for the grace, and closes. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    if (this.#opened) {
      this.#opened.calls.stop(graceMs);
      if (this.#opened.calls.inflight > 0) await this.#drained.promise;
      const cancel = this.#core.clock.after(graceMs, () => this.#drained.resolve());
      await Promise.race([this.#outbox.room(), this.#closed.promise, this.#drained.promise]);
      cancel();
    }
    await this.close();
  }

  async close(): Promise<void> {
    if (this.#state === "open") this.#state = "closing";
    await this.#channel.close(this.#failure);
  }

  redact(text: string): string {
    return this.#token === "" ? text : text.replaceAll(this.#token, "[redacted]");
  }

  #hello(manifestHash: string | undefined): void {
    const { id, version } = this.#core.settings;
    this.#send({
      type: "agent.hello",
      payload: {
        session_token: this.#token,
        agent_id: id,
        agent_version: version,
        ...(manifestHash !== undefined && { manifest_hash: manifestHash }),
        protocol: {
          supported_versions: [RUNTIME_PROTOCOL_VERSION],
          capabilities: ["tools", "streaming", "cancellation"],
        },
        sdk,
      },
    });
  }

  /** A promise holds the reading back: a core that reads no results gets no more calls run. */
  #received(message: unknown): Promise<void> | undefined {
    if (this.#state !== "open") return undefined;
    const opened = this.#opened;
    const call = opened && readToolCall(message);
    if (call) this.#call(opened, call);
    else this.#other(message);
    return this.#outbox.isOverfull ? this.#outbox.room() : undefined;
  }

  #call({ calls }: Opened, message: CoreToolCall): void {
    if (calls.begin(message)) return;
    const text = "a call of this id was received before";
    this.#error(RuntimeErrorCode.OutOfOrder, text, message.id, message);
  }

  #other(value: unknown): void {
    const reading = readCoreMessage(value);
    if (reading.kind === "message") this.#handle(reading.message);
    else if (reading.kind === "refusal") this.#refused(reading.message.error);
    else if (reading.kind === "invalid") this.#violated(reading.code, reading.text, reading.id);
    else if (reading.envelope.request_id !== undefined && reading.envelope.in_reply_to === undefined) {
      const text = "the agent does not know messages of this type";
      this.#error(RuntimeErrorCode.UnknownType, text, reading.envelope.id, reading.envelope);
    }
  }

  #handle(message: CoreMessage): void {
    if (message.type === "core.welcome") this.#welcomed(message);
    else if (message.type === "core.ping")
      this.#send({ type: "agent.pong", payload: {}, origin: message, inReplyTo: message.id });
    else if (message.type === "core.goodbye") this.#dismissed(message.payload);
    else if (message.type === "core.error") this.#told(message);
    else if (!this.#opened)
      this.#violated(RuntimeErrorCode.OutOfOrder, "core.welcome comes first", message.id);
    else if (message.type === "core.tool.call") this.#call(this.#opened, message);
    else if (message.type === "core.tools.registered") {
      this.#opened.registrar.answer(message.in_reply_to, message.payload);
    } else if (message.type === "core.tool.cancel") this.#cancel(this.#opened, message);
  }

  #welcomed({ id, payload }: CoreWelcome): void {
    const { accepted_version, max_frame_bytes } = payload;
    if (this.#opened) {
      this.#violated(RuntimeErrorCode.OutOfOrder, "the core sent a second core.welcome", id);
    } else if (accepted_version !== RUNTIME_PROTOCOL_VERSION) {
      this.#violated(
        RuntimeErrorCode.UnsupportedVersion,
        "the core accepted a version that was not offered",
        id,
      );
    } else if (max_frame_bytes < minFrameBytes) {
      const text = `max_frame_bytes is below ${minFrameBytes}, in which no session fits`;
      this.#violated(RuntimeErrorCode.FrameTooLarge, text, id);
    } else this.#greeted.resolve(this.#open(payload));
  }

  #open(welcome: CoreWelcome["payload"]): Opened {
    const core = this.#core;
    const { clock, settings, limits } = core;
    const maxFrameBytes = welcome.max_frame_bytes;
    const replies = new SessionReplies({
      outbox: this.#outbox,
      clock,
      maxFrameBytes,
      onResult: (call) => {
        calls.ended(call);
        if (this.#isStopping && calls.inflight === 0) this.#drained.resolve();
      },
    });
    const calls = new SessionCalls(core, replies);
    const registrar = new Registrar({
      clock,
      timeoutMs: settings.registerTimeoutMs,
      maxFrameBytes,
      send: (tools, bytes) => this.#send({ type: "agent.tools.register", payload: { tools } }, { bytes }),
    });
    const stopHeartbeat = startHeartbeat({
      clock,
      intervalMs: welcome.heartbeat_interval_ms,
      sessionId: welcome.session_id,
      startedAt: core.startedAt,
      lag: settings.measureLoopLag(),
      degradedLagMs: settings.degradedLagMs,
      running: core.running,
      maxInflightCalls: limits.maxInflightCalls,
      inflight: () => calls.inflight,
      waiting: () => this.#outbox.waiting,
      send: (payload) => this.#beat(payload),
    });
    this.#opened = { welcome, calls, registrar, stopHeartbeat };
    return this.#opened;
  }

  /** One heartbeat at most waits for a slow core. */
  #beat(payload: object): void {
    if (this.#isHeartbeatWaiting) return;
    this.#isHeartbeatWaiting = !this.#outbox.isFree;
    this.#send({ type: "agent.heartbeat", payload }, { onTaken: () => (this.#isHeartbeatWaiting = false) });
  }

  #cancel({ calls }: Opened, message: CoreMessage & { type: "core.tool.cancel" }): void {
    const { call_id } = message.payload;
    // A cancellation need not repeat the ids of its call (section 3.1).
    const origin = calls.origin(call_id) ?? message;
    const cancel = calls.cancel(message.payload);
    const payload = cancel
      ? { call_id, accepted: true }
      : { call_id, accepted: false, note: "no such call is running" };
    this.#send({ type: "agent.tool.cancel_ack", payload, origin, inReplyTo: message.id });
    cancel?.();
  }

  #dismissed(goodbye: Goodbye): void {
    this.#goodbye = goodbye;
    const { clock, settings } = this.#core;
    this.#cancelTimers.push(clock.after(settings.goodbyeTimeoutMs, () => void this.#channel.close()));
  }

  #told({ in_reply_to, error }: CoreMessage & { type: "core.error" }): void {
    const told = new CoreReportedError(error);
    if (!this.#opened?.registrar.fail(in_reply_to, told)) this.#core.report(told);
  }

  #refused(error: RuntimeError): void {
    if (this.#opened) {
      this.#violated(RuntimeErrorCode.OutOfOrder, "the core sent a second core.welcome", undefined);
      return;
    }
    this.#giveUp(new CoreRefusedError(error));
  }

  #judge({ registered, rejected }: Registration): void {
    if (rejected.length === 0) return;
    const { onRejected } = this.#core.settings;
    if (onRejected) {
      quietly(
        () => onRejected(rejected),
        (cause) => this.#core.report(new HarnessError("handler_failed", "onRejected failed", { cause })),
      );
      return;
    }
    const error = new ToolsRejectedError(rejected);
    if (registered.length > 0) this.#core.report(error);
    else {
      this.#failure = error;
      throw error;
    }
  }

  #channelError(error: HarnessError): void {
    if (this.#state !== "open") return;
    if (error.code === "frame_too_large") {
      this.#violated(
        RuntimeErrorCode.FrameTooLarge,
        "the core sent a frame above the limit",
        undefined,
        error,
      );
    } else if (error.code === "invalid_message") {
      const text = "the core sent something that is no message";
      this.#violated(RuntimeErrorCode.InvalidMessage, text, undefined, error);
    } else this.#core.report(error);
  }

  /** Says what was wrong, and closes: who breaks the protocol once cannot be relied on afterwards. */
  #violated(code: RuntimeErrorCode, text: string, inReplyTo: string | undefined, cause?: HarnessError): void {
    this.#error(code, text, inReplyTo);
    this.#giveUp(new RuntimeProtocolError(code, text, cause && { cause }));
  }

  #giveUp(error: HarnessError): void {
    if (this.#state !== "open") return;
    this.#state = "closing";
    this.#failure = error;
    void this.#channel.close(error);
  }

  #error(code: RuntimeErrorCode, text: string, inReplyTo: string | undefined, origin?: CallOrigin): void {
    this.#send({ type: "agent.error", payload: {}, inReplyTo, origin, error: runtimeError(code, text) });
  }

  #send(
    fields: Omit<MessageFields, "nowMs"> & { type: AgentMessageType },
    { bytes = 512, onTaken }: { bytes?: number; onTaken?: () => void } = {},
  ): string {
    const message = toMessage({ ...fields, nowMs: this.#core.clock.now() });
    this.#outbox.push({
      bytes,
      take: () => {
        onTaken?.();
        return message;
      },
    });
    return message.id;
  }

  #finish(error: HarnessError | undefined): void {
    const wasClosing = this.#state === "closing";
    this.#state = "closed";
    for (const cancel of this.#cancelTimers) cancel();
    this.#opened?.stopHeartbeat();
    this.#outbox.close();
    const cause = this.#failure ?? error;
    const lost = new ConnectionClosedError("the connection to the core is closed", cause && { cause });
    this.#opened?.calls.lose(lost);
    this.#opened?.registrar.close(lost);
    this.#greeted.reject(this.#failure ?? lost);
    this.#drained.resolve();
    this.#core.sessions.delete(this);
    this.#closed.resolve({
      reason: this.#reason(wasClosing),
      ...(cause && { error: cause }),
      ...(this.#goodbye && { goodbye: this.#goodbye }),
    });
  }

  #reason(wasClosing: boolean): SessionEnd["reason"] {
    if (this.#failure instanceof RuntimeProtocolError) return "protocol_error";
    if (this.#goodbye) return "goodbye";
    return wasClosing ? "closed" : "core_gone";
  }
}
