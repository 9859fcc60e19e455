import {
  type CoreGoodbye,
  type CoreMessage,
  type CoreWelcome,
  RUNTIME_PROTOCOL_VERSION,
  RuntimeErrorCode,
} from "@harnesskit/protocol/runtime";
import { type Channel, ConnectionClosedError, createDeferred, HarnessError } from "@harnesskit/wire";
import { settleWithin, within } from "@harnesskit/wire/time";
import type { AgentCore } from "./agent-core.ts";
import { CoreRefusedError, CoreReportedError, RuntimeProtocolError, ToolsRejectedError } from "./errors.ts";
import { answerTimeoutMs, goodbyeTimeoutMs, minFrameBytes } from "./limits.ts";
import { OpenedSession, type Registration } from "./opened-session.ts";
import { Outbox } from "./outbox.ts";
import { readCoreMessage } from "./read-core-message.ts";
import { compileTool, type Tool } from "./tool.ts";

/** Written by the build, so that a program into which this package is bundled has it too. */
declare const AGENT_SDK_VERSION: string | undefined;

/** What `agent.hello` says of this package; not built, as in its tests, it has no version. */
const sdk = {
  name: "@harnesskit/agent-sdk",
  version: typeof AGENT_SDK_VERSION === "string" ? AGENT_SDK_VERSION : "0.0.0",
};

const { FrameTooLarge, InvalidMessage, OutOfOrder, UnknownType, UnsupportedVersion } = RuntimeErrorCode;

/** How a connection ended. */
export interface SessionEnd {
  /**
   * `goodbye`: the core sent it. `core_gone`: it is gone without a goodbye. `protocol_error`: it broke the protocol.
   * `closed`: this side closed it.
   */
  readonly reason: "goodbye" | "core_gone" | "protocol_error" | "closed";
  readonly error?: HarnessError | undefined;
  readonly goodbye?: CoreGoodbye["payload"] | undefined;
}

/** One connection to a core, from `agent.hello` to its end. */
export class Session {
  readonly #core: AgentCore;
  readonly #channel: Channel;
  readonly #token: string;
  readonly #outbox: Outbox;
  readonly #greeted = createDeferred<OpenedSession>();
  readonly #closed = createDeferred<SessionEnd>();
  #opened: OpenedSession | undefined;
  /** What the core rejects may have others in its place, before the agent is ready. */
  #isFirst: boolean;
  #goodbye: SessionEnd["goodbye"];
  #cancelGoodbyeTimer: (() => void) | undefined;
  /** Why this side gives the connection up. */
  #failure: HarnessError | undefined;
  #state: "open" | "closing" | "closed" = "open";

  constructor(core: AgentCore, channel: Channel, token: string) {
    this.#core = core;
    this.#isFirst = core.settings.onRejected !== undefined;
    this.#channel = channel;
    this.#token = token;
    if (token !== "") core.tokens.add(token);
    this.#outbox = new Outbox(channel, core.limits, core.clock);
  }

  /** Settles when the connection has ended; never rejects. */
  get closed(): Promise<SessionEnd> {
    return this.#closed.promise;
  }

  /** Sends hello, waits for the welcome and registers the tools. A failure closes the channel and rejects. */
  async open(manifestHash?: string): Promise<Registration & { readonly welcome: CoreWelcome["payload"] }> {
    const { settings, clock, tools, sessions } = this.#core;
    sessions.add(this);
    this.#channel.start({
      message: (message) => this.#received(message),
      error: (error) => this.#channelError(error),
      close: ({ error }) => this.#finish(error),
    });
    this.#outbox.send("agent.hello", {
      session_token: this.#token,
      agent_id: settings.id,
      agent_version: settings.version,
      manifest_hash: manifestHash,
      protocol: {
        supported_versions: [RUNTIME_PROTOCOL_VERSION],
        capabilities: ["tools", "streaming", "cancellation"],
      },
      sdk,
    });
    try {
      const wait = { name: "agent.hello", timeoutMs: answerTimeoutMs, clock };
      const opened = await within(this.#greeted.promise, wait);
      await tools.load();
      const declarations = tools.all.map((tool) => tool.declarationFor(settings.id));
      const registration = await opened.register(declarations, this.#isFirst);
      await this.#judge(registration);
      if (this.#isFirst) {
        this.#isFirst = false;
        await opened.register([]);
      }
      return { ...registration, welcome: opened.welcome };
    } catch (error) {
      if (HarnessError.isInstance(error) && error.code === "request_timeout") this.#failure ??= error;
      await this.#channel.close(this.#failure);
      throw error;
    }
  }

  async register(tools: readonly Tool[]): Promise<Registration> {
    if (!this.#opened) return { registered: [], rejected: [] };
    const declarations = tools.map((tool) => compileTool(tool).declarationFor(this.#core.settings.id));
    return this.#opened.register(declarations, this.#isFirst);
  }

  unregister(toolIds: readonly string[]): void {
    if (this.#opened) this.#outbox.send("agent.tools.unregister", { tool_ids: toolIds });
  }

  /** Aborts the calls, waits for their results, at most for the grace, and closes. */
  async stop(graceMs: number): Promise<void> {
    if (this.#opened) {
      await this.#opened.stop(graceMs);
      const sent = Promise.race([this.#outbox.room(), this.#closed.promise]);
      await settleWithin(sent, { name: "stop", timeoutMs: graceMs, clock: this.#core.clock });
    }
    await this.close();
  }

  async close(): Promise<void> {
    if (this.#state === "open") this.#state = "closing";
    await this.#channel.close(this.#failure);
  }

  /** A promise pauses the reading: a core that reads no results gets no more calls run. */
  #received(value: unknown): Promise<void> | undefined {
    if (this.#state !== "open") return undefined;
    const reading = readCoreMessage(value);
    switch (reading.kind) {
      case "message":
        this.#handle(reading.message);
        break;
      case "invalid":
        this.#violated(reading.code, reading.problem, reading.id);
        break;
      case "refusal":
        if (this.#opened) this.#secondWelcome(reading.message.id);
        else this.#giveUp(new CoreRefusedError(reading.message.error));
        break;
      case "unknown": {
        const { envelope: origin } = reading;
        // A message without a request id expects no answer, and new types are ignored (section 6.2).
        if (origin.request_id === undefined || origin.in_reply_to !== undefined) break;
        this.#outbox.error(UnknownType, "the type is unknown to the agent", { inReplyTo: origin.id, origin });
      }
    }
    return this.#outbox.isOverfull ? this.#outbox.room() : undefined;
  }

  #handle(message: CoreMessage): void {
    switch (message.type) {
      case "core.welcome":
        this.#welcomed(message);
        return;
      case "core.ping":
        this.#outbox.send("agent.pong", {}, { origin: message, inReplyTo: message.id });
        return;
      case "core.goodbye":
        this.#goodbye = message.payload;
        this.#cancelGoodbyeTimer?.();
        this.#cancelGoodbyeTimer = this.#core.clock.after(goodbyeTimeoutMs, () => void this.#channel.close());
        return;
      case "core.error": {
        const reported = new CoreReportedError(message.error);
        if (!this.#opened?.fail(message.in_reply_to, reported)) this.#core.report(reported);
        return;
      }
      default:
        if (this.#opened) this.#opened.handle(message);
        else this.#violated(OutOfOrder, "core.welcome must come first", message.id);
    }
  }

  #welcomed({ id, payload }: CoreWelcome): void {
    if (this.#opened) this.#secondWelcome(id);
    else if (payload.accepted_version !== RUNTIME_PROTOCOL_VERSION) {
      this.#violated(UnsupportedVersion, "the core accepted a version that was not offered", id);
    } else if (payload.max_frame_bytes < minFrameBytes) {
      const problem = `max_frame_bytes is below ${minFrameBytes}, which is too small for a session`;
      this.#violated(FrameTooLarge, problem, id);
    } else {
      this.#opened = new OpenedSession(this.#core, this.#outbox, payload);
      this.#greeted.resolve(this.#opened);
    }
  }

  async #judge({ registered, rejected }: Registration): Promise<void> {
    if (rejected.length === 0) return;
    const { onRejected } = this.#core.settings;
    const error = new ToolsRejectedError(rejected);
    if (onRejected) {
      try {
        await onRejected(rejected);
      } catch (cause) {
        this.#core.report(new HarnessError("handler_failed", "onRejected failed", { cause }));
      }
    } else if (registered.length > 0) this.#core.report(error);
    else {
      this.#failure = error;
      throw error;
    }
  }

  #channelError(error: HarnessError): void {
    if (this.#state !== "open") return;
    if (error.code === "frame_too_large") {
      this.#violated(FrameTooLarge, "the core sent a frame above the limit", undefined, error);
    } else if (error.code === "invalid_message") {
      this.#violated(InvalidMessage, "the core sent an invalid message", undefined, error);
    } else this.#core.report(error);
  }

  #secondWelcome(id: string): void {
    this.#violated(OutOfOrder, "the core sent a second core.welcome", id);
  }

  /** Answers what was wrong, and closes: a core that broke the protocol once is not trusted afterwards. */
  #violated(code: RuntimeErrorCode, problem: string, inReplyTo?: string, cause?: HarnessError): void {
    this.#outbox.error(code, problem, { inReplyTo });
    this.#giveUp(new RuntimeProtocolError(code, problem, cause && { cause }));
  }

  #giveUp(error: HarnessError): void {
    if (this.#state !== "open") return;
    this.#state = "closing";
    this.#failure = error;
    void this.#channel.close(error);
  }

  #finish(error: HarnessError | undefined): void {
    const wasClosing = this.#state === "closing";
    this.#state = "closed";
    this.#cancelGoodbyeTimer?.();
    this.#outbox.close();
    const cause = this.#failure ?? error;
    const lost = new ConnectionClosedError("the connection to the core is closed", cause && { cause });
    this.#opened?.close(lost);
    this.#greeted.reject(this.#failure ?? lost);
    this.#core.sessions.delete(this);
    let reason: SessionEnd["reason"] = wasClosing ? "closed" : "core_gone";
    if (this.#goodbye) reason = "goodbye";
    if (this.#failure instanceof RuntimeProtocolError) reason = "protocol_error";
    this.#closed.resolve({ reason, error: cause, goodbye: this.#goodbye });
  }
}
