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
import type { AgentSessions } from "./agent-sessions.ts";
import { toMessage } from "./core-message.ts";
import type { Session } from "./session.ts";

const { FrameTooLarge, InvalidMessage, OutOfOrder, Unauthorized, Unresponsive, UnsupportedVersion } =
  RuntimeErrorCode;

const refusalMessages: Readonly<Record<string, string>> = {
  [Unauthorized]: "the session token is not valid for this agent",
  [UnsupportedVersion]: "no common version; this core supports 1",
  [OutOfOrder]: "the first message must be agent.hello",
  [Unresponsive]: "agent.hello did not come in time",
  [InvalidMessage]: "not a message of the runtime protocol",
  [FrameTooLarge]: "the frame is too large",
};

/** One connection: waits for the hello, and hands everything after it to the session. */
export class AgentConnection {
  #cancelTimer: (() => void) | undefined;
  readonly #core: AgentSessions;
  readonly #channel: Channel;
  #session: Session | undefined;
  #refused = false;

  constructor(channel: Channel, core: AgentSessions) {
    this.#channel = channel;
    this.#core = core;
  }

  start(): void {
    const { clock, times } = this.#core.context;
    const onTimeout = () => this.#refuse(Unresponsive, "no_hello");
    this.#cancelTimer = startDeadline(times.helloTimeoutMs, onTimeout, { clock });
    this.#channel.start({
      message: (message) => {
        if (this.#session) return this.#session.receive(message);
        if (!this.#refused) this.#greet(message);
        return undefined;
      },
      error: (error) => {
        if (this.#session) this.#session.frameError(error);
        else this.#refuse(error.code === "frame_too_large" ? FrameTooLarge : InvalidMessage, "invalid_frame");
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
      this.#refuse(isTyped ? OutOfOrder : InvalidMessage, "no_hello", message);
      return;
    }
    const hello = AgentHelloSchema.safeParse(message);
    const token = isObject(message.payload) ? message.payload.session_token : undefined;
    if (message.v !== RUNTIME_PROTOCOL_VERSION) this.#refuse(UnsupportedVersion, "version", message);
    else if (typeof token !== "string") this.#refuse(Unauthorized, "token_missing", message);
    else if (hello.success) this.#judge(hello.data);
    else this.#refuse(InvalidMessage, "malformed", message);
  }

  #judge(hello: AgentHello): void {
    const { session_token, agent_id, protocol } = hello.payload;
    const admitted = this.#core.admissions.redeem(session_token, agent_id);
    if (typeof admitted === "string") {
      const isOther = admitted === "other_agent";
      const text = `it says that its id is ${agent_id}, and its manifest has another id: make them the same`;
      this.#refuse(Unauthorized, `token_${admitted}`, hello, isOther ? text : undefined);
    } else if (!protocol.supported_versions.includes(RUNTIME_PROTOCOL_VERSION)) {
      this.#refuse(UnsupportedVersion, "version", hello);
    } else {
      this.#settle();
      this.#session = this.#core.welcome({ channel: this.#channel, admitted, hello });
    }
  }

  /** Answers with the code, a hello with the refusal in place of its welcome, and closes. The reason is for the audit only. */
  #refuse(
    code: RuntimeErrorCode,
    reason: string,
    message?: unknown,
    text = refusalMessages[code] ?? "",
  ): void {
    if (this.#refused) return;
    this.#refused = true;
    const { context, auditBudget } = this.#core;
    const { id, payload, type } = isObject(message) ? message : {};
    auditBudget.record({
      action: "agent.refused",
      outcome: code === FrameTooLarge ? "limited" : "refused",
      agent_id: AgentIdSchema.safeParse(isObject(payload) ? payload.agent_id : undefined).data,
      details: { code, reason },
    });
    const in_reply_to = typeof id === "string" && id !== "" ? id.slice(0, 256) : undefined;
    const links = { error: { code, message: text, where: "core" }, in_reply_to };
    const answer = type === "agent.hello" ? "core.welcome" : "core.error";
    this.#channel.send(toMessage(context.clock, answer, {}, links)).catch(() => {});
    this.#settle();
    void this.#channel.close();
  }

  #settle(): void {
    this.#cancelTimer?.();
    this.#core.settled(this);
  }
}
