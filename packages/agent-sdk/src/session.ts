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
import { readCoreMessage, type Violation } from "./read-core-message.ts";
import { compileTool, type Tool } from "./tool.ts";

/** Written by the build, so that a program into which this package is bundled has it too. */
declare const AGENT_SDK_VERSION: string | undefined;

/** What `agent.hello` says of this package; not built, as in its tests, it has no version. */
const sdk = {
  name: "@harnesskit/agent-sdk",
  version: typeof AGENT_SDK_VERSION === "string" ? AGENT_SDK_VERSION : "0.0.0",
};

type Goodbye = CoreGoodbye["payload"];
type Welcome = CoreWelcome["payload"];

/** How a connection ended. */
export interface SessionEnd {
  /**
   * `goodbye`: the core sent it. `core_gone`: it is gone without a goodbye. `protocol_error`: it broke the protocol.
   * `closed`: this side closed it.
   */
  readonly reason: "goodbye" | "core_gone" | "protocol_error" | "closed";
  readonly error?: HarnessError | undefined;
  readonly goodbye?: Goodbye | undefined;
}

/** Why a welcome is not acceptable. */
const welcomeProblem = ({ accepted_version, max_frame_bytes }: Welcome): Violation | undefined => {
  if (accepted_version !== RUNTIME_PROTOCOL_VERSION) {
    const problem = "the core accepted a version that was not offered";
    return { code: RuntimeErrorCode.UnsupportedVersion, problem };
  }
  if (max_frame_bytes >= minFrameBytes) return undefined;
  const problem = `max_frame_bytes is below ${minFrameBytes}, which is too small for a session`;
  return { code: RuntimeErrorCode.FrameTooLarge, problem };
};

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
  #goodbye: Goodbye | undefined;
  #cancelGoodbyeTimer: (() => void) | undefined;
  /** Why this side gives the connection up. */
  #failure: HarnessError | undefined;
  #state: "open" | "closing" | "closed" = "open";

  constructor(core: AgentCore, channel: Channel, token: string) {
    this.#core = core;
    this.#isFirst = core.settings.onRejected !== undefined;
    this.#channel = channel;
    this.#token = token;
    this.#outbox = new Outbox(channel, core.limits, core.clock);
  }

  /** Settles when the connection has ended; never rejects. */
  get closed(): Promise<SessionEnd> {
    return this.#closed.promise;
  }

  get welcome(): Welcome | undefined {
    return this.#opened?.welcome;
  }

  /** Sends hello, waits for the welcome and registers the tools. A failure closes the channel and rejects. */
  async open(manifestHash?: string): Promise<Registration> {
    const { settings, clock, tools, sessions } = this.#core;
    sessions.add(this);
    this.#channel.start({
      message: (message) => this.#received(message),
      error: (error) => this.#channelError(error),
      close: ({ error }) => this.#finish(error),
    });
    this.#hello(manifestHash);
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
      return registration;
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

  redact(text: string): string {
    return this.#token === "" ? text : text.replaceAll(this.#token, "[redacted]");
  }

  #hello(manifestHash: string | undefined): void {
    const { id, version } = this.#core.settings;
    this.#outbox.send("agent.hello", {
      session_token: this.#token,
      agent_id: id,
      agent_version: version,
      manifest_hash: manifestHash,
      protocol: {
        supported_versions: [RUNTIME_PROTOCOL_VERSION],
        capabilities: ["tools", "streaming", "cancellation"],
      },
      sdk,
    });
  }

  /** A promise pauses the reading: a core that reads no results gets no more calls run. */
  #received(value: unknown): Promise<void> | undefined {
    if (this.#state !== "open") return undefined;
    const reading = readCoreMessage(value);
    if (reading.kind === "message") this.#handle(reading.message);
    else if (reading.kind === "invalid") this.#violated(reading.violation);
    else if (reading.kind === "unknown") {
      const { envelope } = reading;
      if (envelope.request_id !== undefined && envelope.in_reply_to === undefined) {
        this.#outbox.error(RuntimeErrorCode.UnknownType, "the type is unknown to the agent", {
          inReplyTo: envelope.id,
          origin: envelope,
        });
      }
    } else if (this.#opened) this.#secondWelcome(reading.message.id);
    else this.#giveUp(new CoreRefusedError(reading.message.error));
    return this.#outbox.isOverfull ? this.#outbox.room() : undefined;
  }

  #handle(message: CoreMessage): void {
    const opened = this.#opened;
    switch (message.type) {
      case "core.welcome":
        this.#welcomed(message);
        return;
      case "core.ping":
        this.#outbox.send("agent.pong", {}, { origin: message, inReplyTo: message.id });
        return;
      case "core.goodbye":
        this.#dismissed(message.payload);
        return;
      case "core.error": {
        const reported = new CoreReportedError(message.error);
        if (!opened?.fail(message.in_reply_to, reported)) this.#core.report(reported);
        return;
      }
      default:
        if (opened) opened.handle(message);
        else {
          const problem = "core.welcome must come first";
          this.#violated({ code: RuntimeErrorCode.OutOfOrder, problem, id: message.id });
        }
    }
  }

  #welcomed({ id, payload }: CoreWelcome): void {
    const violation = welcomeProblem(payload);
    if (this.#opened) this.#secondWelcome(id);
    else if (violation) this.#violated({ ...violation, id });
    else {
      this.#opened = new OpenedSession(this.#core, this.#outbox, payload);
      this.#greeted.resolve(this.#opened);
    }
  }

  #dismissed(goodbye: Goodbye): void {
    this.#goodbye = goodbye;
    this.#cancelGoodbyeTimer?.();
    this.#cancelGoodbyeTimer = this.#core.clock.after(goodbyeTimeoutMs, () => void this.#channel.close());
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
    const { FrameTooLarge, InvalidMessage } = RuntimeErrorCode;
    if (error.code === "frame_too_large") {
      this.#violated({ code: FrameTooLarge, problem: "the core sent a frame above the limit" }, error);
    } else if (error.code === "invalid_message") {
      this.#violated({ code: InvalidMessage, problem: "the core sent an invalid message" }, error);
    } else this.#core.report(error);
  }

  #secondWelcome(id: string): void {
    const problem = "the core sent a second core.welcome";
    this.#violated({ code: RuntimeErrorCode.OutOfOrder, problem, id });
  }

  /** Answers what was wrong, and closes: a core that broke the protocol once is not trusted afterwards. */
  #violated({ code, problem, id }: Violation, cause?: HarnessError): void {
    this.#outbox.error(code, problem, { inReplyTo: id });
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
    this.#closed.resolve({
      reason: this.#reason(wasClosing),
      error: cause,
      goodbye: this.#goodbye,
    });
  }

  #reason(wasClosing: boolean): SessionEnd["reason"] {
    if (this.#failure instanceof RuntimeProtocolError) return "protocol_error";
    if (this.#goodbye) return "goodbye";
    return wasClosing ? "closed" : "core_gone";
  }
}
