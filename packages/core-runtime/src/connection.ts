import {
  type AgentHello,
  AgentHelloSchema,
  AgentIdSchema,
  RUNTIME_PROTOCOL_VERSION,
  RuntimeErrorCode,
} from "@harnesskit/protocol/runtime";
import type { Channel } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { startDeadline } from "@harnesskit/wire/time";
import { toMessage } from "./core-message.ts";
import type { RuntimeCore } from "./runtime-core.ts";
import type { Session, SessionOptions } from "./session.ts";

/** A hello that was accepted. */
export type Accepted = Pick<SessionOptions, "channel" | "admitted"> & {
  readonly hello: AgentHello;
};

const refusalMessages: Readonly<Record<string, string>> = {
  [RuntimeErrorCode.Unauthorized]: "the session token is not valid for this agent",
  [RuntimeErrorCode.UnsupportedVersion]: "no common version; this core supports 1",
  [RuntimeErrorCode.OutOfOrder]: "the first message must be agent.hello",
  [RuntimeErrorCode.Unresponsive]: "agent.hello did not come in time",
  [RuntimeErrorCode.InvalidMessage]: "not a message of the runtime protocol",
  [RuntimeErrorCode.FrameTooLarge]: "the frame is too large",
};

/** One connection: waits for the hello, and hands everything after it to the session. */
export class AgentConnection {
  #cancelTimer: (() => void) | undefined;
  readonly #core: RuntimeCore;
  readonly #channel: Channel;
  #session: Session | undefined;
  #refused = false;

  constructor(channel: Channel, core: RuntimeCore) {
    this.#channel = channel;
    this.#core = core;
  }

  start(): void {
    const { clock, times } = this.#core.context;
    const onTimeout = () => this.#refuse(RuntimeErrorCode.Unresponsive, "no_hello");
    this.#cancelTimer = startDeadline(times.helloTimeoutMs, onTimeout, { clock });
    this.#channel.start({
      message: (message) => {
        if (this.#session) return this.#session.receive(message);
        if (!this.#refused) this.#greet(message);
        return undefined;
      },
      error: (error) => {
        const { FrameTooLarge, InvalidMessage } = RuntimeErrorCode;
        if (this.#session) this.#session.frameError(error);
        else {
          this.#core.unframedMs = this.#core.context.clock.elapsedMs();
          this.#refuse(error.code === "frame_too_large" ? FrameTooLarge : InvalidMessage, "invalid_frame");
        }
      },
      close: ({ error }) => {
        if (this.#session) this.#session.channelClosed(error);
        else this.#settle();
      },
    });
  }

  /** The core closes. */
  close(): void {
    this.#refused = true;
    this.#settle();
    void this.#channel.close();
  }

  #greet(message: unknown): void {
    if (!isObject(message) || message.type !== "agent.hello") {
      const isTyped = isObject(message) && typeof message.type === "string";
      const code = isTyped ? RuntimeErrorCode.OutOfOrder : RuntimeErrorCode.InvalidMessage;
      this.#refuse(code, "no_hello", message);
      return;
    }
    const hello = AgentHelloSchema.safeParse(message);
    const token = isObject(message.payload) ? message.payload.session_token : undefined;
    if (message.v !== RUNTIME_PROTOCOL_VERSION) {
      this.#refuseHello(RuntimeErrorCode.UnsupportedVersion, "version", message);
    } else if (typeof token !== "string") {
      this.#refuseHello(RuntimeErrorCode.Unauthorized, "token_missing", message);
    } else if (hello.success) this.#judge(hello.data);
    else this.#refuseHello(RuntimeErrorCode.InvalidMessage, "malformed", message);
  }

  #judge(hello: AgentHello): void {
    const { session_token, agent_id, protocol } = hello.payload;
    const admitted = this.#core.admissions.redeem(session_token, agent_id);
    if (typeof admitted === "string") {
      const isOther = admitted === "other_agent";
      const text = isOther
        ? `it says that its id is ${agent_id}, and its manifest has another id: make them the same`
        : undefined;
      this.#refuse(RuntimeErrorCode.Unauthorized, `token_${admitted}`, hello, "core.welcome", text);
      return;
    }
    if (!protocol.supported_versions.includes(RUNTIME_PROTOCOL_VERSION)) {
      this.#refuseHello(RuntimeErrorCode.UnsupportedVersion, "version", hello);
      return;
    }
    this.#settle();
    this.#session = this.#core.welcome({ channel: this.#channel, admitted, hello });
  }

  #refuseHello(code: RuntimeErrorCode, reason: string, hello: object): void {
    this.#refuse(code, reason, hello, "core.welcome");
  }

  /** Answers with the code, and closes. The reason is for the audit only. */
  #refuse(
    code: RuntimeErrorCode,
    reason: string,
    message?: unknown,
    type: "core.welcome" | "core.error" = "core.error",
    text = refusalMessages[code] ?? "the connection is refused",
  ): void {
    if (this.#refused) return;
    this.#refused = true;
    const { context, auditBudget } = this.#core;
    const { id, payload } = isObject(message) ? message : {};
    context.audit.recordWithin(auditBudget, {
      action: "agent.refused",
      outcome: code === RuntimeErrorCode.FrameTooLarge ? "limited" : "refused",
      agent_id: AgentIdSchema.safeParse(isObject(payload) ? payload.agent_id : undefined).data,
      details: { code, reason },
    });
    const error = { code, message: text, where: "core" };
    const replyTo = typeof id === "string" && id !== "" ? { in_reply_to: id.slice(0, 256) } : {};
    this.#channel.send(toMessage(context.clock, type, {}, { error, ...replyTo })).catch(() => {});
    this.#settle();
    void this.#channel.close();
  }

  #settle(): void {
    this.#cancelTimer?.();
    this.#core.settled(this);
  }
}
