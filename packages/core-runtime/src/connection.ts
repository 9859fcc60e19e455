import {
  type AgentHello,
  AgentHelloSchema,
  AgentIdSchema,
  RuntimeErrorCode,
} from "@harnesskit/protocol/runtime";
import type { Channel } from "@harnesskit/wire";
import type { Admissions, AdmittedLaunch, TokenRefusal } from "./admissions.ts";
import type { AuditBudget } from "./audit-trail.ts";
import type { CoreContext } from "./core-context.ts";
import type { Deadline } from "./deadlines.ts";
import { isObject } from "./measure-json.ts";
import { MessageFactory } from "./message-factory.ts";
import type { Session } from "./session.ts";

/** What a connection needs of its core. */
export interface ConnectionOwner {
  readonly context: CoreContext;
  readonly admissions: Admissions;
  /** For all connections without a session together. */
  readonly auditBudget: AuditBudget;
  /** Makes the session of an agent that may come in. */
  welcome(options: {
    readonly channel: Channel;
    readonly admitted: AdmittedLaunch;
    readonly hello: AgentHello;
    readonly messages: MessageFactory;
    readonly manifestDrift: boolean;
  }): Session;
  /** The connection has a session now, or is gone. */
  settled(connection: Connection): void;
}

/** One connection: waits for the hello, and hands everything behind it to the session. */
export class Connection implements Deadline {
  dueAt = 0;
  position = -1;
  readonly #owner: ConnectionOwner;
  readonly #channel: Channel;
  readonly #messages: MessageFactory;
  #session: Session | undefined;
  #refused = false;

  constructor(channel: Channel, owner: ConnectionOwner) {
    this.#channel = channel;
    this.#owner = owner;
    this.#messages = new MessageFactory(owner.context.clock);
  }

  start(): void {
    const { context } = this.#owner;
    context.deadlines.set(this, context.clock.now() + context.times.helloTimeoutMs);
    this.#channel.start({
      message: (message) => {
        if (this.#session) this.#session.receive(message);
        else if (!this.#refused) this.#greet(message);
      },
      error: (error) => {
        if (this.#session) this.#session.frameError(error);
        else
          this.#refuse(
            frameCodes[error.code] ?? RuntimeErrorCode.InvalidMessage,
            "core.error",
            "invalid_frame",
          );
      },
      close: ({ error }) => {
        if (this.#session) this.#session.channelClosed(error);
        else this.#settle();
      },
    });
  }

  /** No hello came in time. */
  expired(): void {
    this.#refuse(RuntimeErrorCode.Unresponsive, "core.error", "no_hello");
  }

  /** The core closes. */
  close(): void {
    this.#refused = true;
    this.#settle();
    void this.#channel.close();
  }

  #greet(message: unknown): void {
    if (!isObject(message) || message.type !== "agent.hello") {
      const known = isObject(message) && typeof message.type === "string";
      const code = known ? RuntimeErrorCode.OutOfOrder : RuntimeErrorCode.InvalidMessage;
      this.#refuse(code, "core.error", "no_hello", message);
      return;
    }
    if (message.v !== 1) {
      this.#refuse(RuntimeErrorCode.UnsupportedVersion, "core.welcome", "version", message);
      return;
    }
    const token = isObject(message.payload) ? message.payload.session_token : undefined;
    if (typeof token !== "string") {
      this.#refuse(RuntimeErrorCode.Unauthorized, "core.welcome", "token_missing", message);
      return;
    }
    const hello = AgentHelloSchema.safeParse(message);
    if (hello.success) this.#judge(hello.data);
    else this.#refuse(RuntimeErrorCode.InvalidMessage, "core.welcome", "malformed", message);
  }

  #judge(hello: AgentHello): void {
    const { payload } = hello;
    const admitted = this.#owner.admissions.redeem(payload.session_token, payload.agent_id);
    if (typeof admitted === "string") {
      this.#refuse(
        RuntimeErrorCode.Unauthorized,
        "core.welcome",
        `token_${admitted}` satisfies `token_${TokenRefusal}`,
        hello,
      );
      return;
    }
    if (!payload.protocol.supported_versions.includes(1)) {
      this.#refuse(RuntimeErrorCode.UnsupportedVersion, "core.welcome", "version", hello);
      return;
    }
    const expected = admitted.launch.manifestHash;
    const drift =
      expected !== undefined && payload.manifest_hash !== undefined && payload.manifest_hash !== expected;
    if (drift) this.#recordDrift(admitted);
    if (drift && this.#owner.context.refuseManifestDrift) {
      this.#refuse(RuntimeErrorCode.Unauthorized, "core.welcome", "manifest_drift", hello);
      return;
    }
    this.#settle();
    this.#session = this.#owner.welcome({
      channel: this.#channel,
      admitted,
      hello,
      messages: this.#messages,
      manifestDrift: drift,
    });
  }

  #recordDrift({ launch }: AdmittedLaunch): void {
    this.#owner.context.audit.record({
      action: "agent.manifest_drift",
      outcome: this.#owner.context.refuseManifestDrift ? "refused" : "ok",
      agent_id: launch.agentId,
      details: { launch_id: launch.launchId },
    });
  }

  /** Says no, and closes. The other side is told the code; why exactly is for the audit. */
  #refuse(
    code: RuntimeErrorCode,
    type: "core.welcome" | "core.error",
    reason: string,
    message?: unknown,
  ): void {
    if (this.#refused) return;
    this.#refused = true;
    const { context, auditBudget } = this.#owner;
    context.stats.refusedHellos++;
    const claimed = isObject(message) && isObject(message.payload) ? message.payload.agent_id : undefined;
    const agentId = AgentIdSchema.safeParse(claimed);
    context.audit.recordWithin(auditBudget, {
      action: "agent.refused",
      outcome: code === RuntimeErrorCode.FrameTooLarge ? "limited" : "refused",
      agent_id: agentId.data,
      details: { code, reason },
    });
    const id = isObject(message) && typeof message.id === "string" ? message.id.slice(0, 256) : "";
    const error = { code, message: refusalTexts[code] ?? "the connection is refused", where: "core" };
    const correlation = { error, ...(id !== "" && { in_reply_to: id }) };
    this.#channel.send(this.#messages.makeAny(type, {}, correlation)).catch(ignore);
    this.#settle();
    void this.#channel.close();
  }

  #settle(): void {
    this.#owner.context.deadlines.clear(this);
    this.#owner.settled(this);
  }
}

const ignore = () => {};

const frameCodes: Readonly<Record<string, RuntimeErrorCode>> = {
  frame_too_large: RuntimeErrorCode.FrameTooLarge,
};

const refusalTexts: Readonly<Record<string, string>> = {
  [RuntimeErrorCode.Unauthorized]: "the session token is not good for this agent",
  [RuntimeErrorCode.UnsupportedVersion]: "no version is spoken by both sides; this core speaks 1",
  [RuntimeErrorCode.OutOfOrder]: "the first message has to be agent.hello",
  [RuntimeErrorCode.Unresponsive]: "agent.hello did not come in time",
  [RuntimeErrorCode.InvalidMessage]: "this is no message of the protocol",
  [RuntimeErrorCode.FrameTooLarge]: "the frame is too large",
};
