import {
  type AgentMessage,
  type AgentMessageType,
  type AgentToolsRegister,
  agentMessages,
  RUNTIME_PROTOCOL_VERSION,
  RuntimeErrorCode,
} from "@harnesskit/protocol/runtime";
import type { HarnessError } from "@harnesskit/wire";
import { hasEnvelope, isHeartbeat, isId, isToolResult, isToolStream } from "./check-message.ts";
import type { CoreContext } from "./core-context.ts";
import { isObject, measureJson } from "./measure-json.ts";
import type { Session } from "./session.ts";

/** Values in a message that is not a result, a chunk or a registration; those in use have a few dozen. */
const maxNodes = 20_000;

type RawMessage = Record<string, unknown>;

/** Reads what an agent sends after its hello. */
export class SessionInbox {
  readonly #context: CoreContext;
  readonly #session: Session;
  #invalid = 0;

  constructor(context: CoreContext, session: Session) {
    this.#context = context;
    this.#session = session;
  }

  take(message: unknown): void {
    if (!isObject(message) || !Number.isSafeInteger(message.v) || typeof message.type !== "string") {
      this.#refuse(isObject(message) ? message : {}, RuntimeErrorCode.InvalidMessage, "this is no message");
      return;
    }
    if (message.v !== RUNTIME_PROTOCOL_VERSION) {
      this.#violation(RuntimeErrorCode.UnsupportedVersion, "the version that was agreed on is 1", message);
      return;
    }
    switch (message.type) {
      case "agent.tool.result":
        if (isToolResult(message)) this.#stray(this.#session.calls.takeResult(message));
        else this.#invalidResult(message);
        return;
      case "agent.tool.stream":
        if (isToolStream(message)) this.#stray(this.#session.calls.takeStream(message) ? undefined : "chunk");
        else this.#malformed(message);
        return;
      case "agent.heartbeat":
        if (isHeartbeat(message) && message.payload.session_id === this.#session.sessionId) {
          this.#session.beat(message.payload.status);
        } else this.#malformed(message);
        return;
      case "agent.tools.register":
        if (isRegistration(message)) this.#register(message);
        else this.#malformed(message);
        return;
      case "agent.hello":
        this.#violation(RuntimeErrorCode.OutOfOrder, "hello was said already", message);
        return;
      default:
        this.#takeRare(message, message.type);
    }
  }

  takeFrameError(error: HarnessError): void {
    if (error.code === "frame_too_large") {
      const message = `a frame exceeds ${this.#context.limits.maxFrameBytes} bytes`;
      this.#record("limited", { code: RuntimeErrorCode.FrameTooLarge });
      this.#session.refuse({ code: RuntimeErrorCode.FrameTooLarge, message, where: "core" }, undefined);
      return;
    }
    this.#refuse({}, RuntimeErrorCode.InvalidMessage, "this is no message");
  }

  #takeRare(raw: RawMessage, type: string): void {
    if (!Object.hasOwn(agentMessages, type)) {
      this.#context.stats.unknownTypes++;
      // Without a request's id nobody waits, and what is new to this core is ignored (section 6.2).
      if (isId(raw.request_id)) this.#answerError(raw, RuntimeErrorCode.UnknownType, "the type is unknown");
      return;
    }
    const measured = measureJson(raw);
    if (!measured || measured.nodes > maxNodes) {
      this.#malformed(raw);
      return;
    }
    const parsed = agentMessages[type as AgentMessageType].safeParse(raw);
    if (parsed.success) this.#takeParsed(parsed.data);
    else this.#malformed(raw);
  }

  #takeParsed(message: AgentMessage): void {
    const session = this.#session;
    if (message.type === "agent.tools.unregister") {
      const toolIds = session.tools.unregister(message.payload.tool_ids);
      this.#record("ok", { tools: toolIds.length }, "tools.unregistered");
      const answer = { in_reply_to: message.id, request_id: message.request_id };
      session.send(session.messages.make("core.tools.unregistered", { tool_ids: toolIds }, answer));
      if (toolIds.length > 0) session.toolsChanged();
    } else if (message.type === "agent.pong" && message.in_reply_to !== undefined) {
      session.pings.answered(message.in_reply_to);
    } else if (message.type === "agent.error" && message.in_reply_to !== undefined) {
      session.calls.takeError(message.in_reply_to, message.error);
    }
    // An acknowledged cancellation asks for nothing: the result follows or not.
  }

  #register(message: RawMessage & AgentToolsRegister): void {
    const session = this.#session;
    const { stats } = this.#context;
    const { tools, replace } = message.payload;
    const outcome = session.tools.register(tools, replace === true);
    stats.toolsRegistered += outcome.registered.length;
    stats.toolsRejected += outcome.rejectedCount;
    const counts = { registered: outcome.registered.length, rejected: outcome.rejectedCount };
    this.#record(
      outcome.rejectedCount > 0 ? "refused" : "ok",
      { ...counts, replace: replace === true },
      "tools.registered",
    );
    for (const { tool_id: toolId, error } of outcome.rejected) {
      this.#record("refused", { code: error.code, reason: error.message }, "tool.rejected", toolId);
    }
    for (const toolId of outcome.changed) this.#record("ok", {}, "tool.schema_changed", toolId);
    const payload = {
      registered: outcome.registered,
      ...(outcome.rejected.length > 0 && { rejected: outcome.rejected }),
    };
    const answer = { in_reply_to: message.id, request_id: message.request_id };
    session.send(session.messages.make("core.tools.registered", payload, answer));
    if (outcome.registered.length > 0 || replace === true) session.toolsChanged();
  }

  #stray(kind: string | undefined): void {
    if (kind !== undefined) this.#record("refused", { kind }, "tool.stray");
  }

  /** The call has ended, and nobody knows how. */
  #invalidResult(message: RawMessage): void {
    const callId = isObject(message.payload) ? message.payload.call_id : undefined;
    if (typeof callId === "string") this.#session.calls.takeInvalidResult(callId);
    this.#malformed(message);
  }

  #malformed(message: RawMessage): void {
    this.#refuse(message, RuntimeErrorCode.InvalidMessage, "the message does not fit its type");
  }

  #refuse(message: RawMessage, code: RuntimeErrorCode, text: string): void {
    this.#context.stats.invalidMessages++;
    this.#record("refused", { code });
    if (++this.#invalid > this.#context.limits.maxInvalidMessages) {
      this.#violation(code, "too many messages are invalid", message);
    } else this.#answerError(message, code, text);
  }

  /** Never to an answer: an error that answers an answer could go back and forth for ever. */
  #answerError(message: RawMessage, code: RuntimeErrorCode, text: string): void {
    const { id, request_id: requestId, in_reply_to: inReplyTo } = message;
    if (inReplyTo !== undefined) return;
    const answer = {
      in_reply_to: isId(id) ? id : undefined,
      request_id: isId(requestId) ? requestId : undefined,
      error: { code, message: text, where: "core" },
    };
    this.#session.send(this.#session.messages.make("core.error", {}, answer));
  }

  #violation(code: RuntimeErrorCode, text: string, message: RawMessage): void {
    this.#record("refused", { code, closes: true });
    this.#session.refuse({ code, message: text, where: "core" }, isId(message.id) ? message.id : undefined);
  }

  #record(
    outcome: "ok" | "refused" | "limited",
    details: Record<string, string | number | boolean>,
    action = "agent.violation",
    toolId?: string,
  ): void {
    if (!this.#context.audit.on) return;
    this.#context.audit.recordWithin(this.#session.auditBudget, {
      action,
      outcome,
      agent_id: this.#session.agentId,
      session_id: this.#session.sessionId,
      tool_id: toolId,
      details,
    });
  }
}

/** The entries of `tools` are judged one by one, later. */
const isRegistration = (message: RawMessage): message is RawMessage & AgentToolsRegister => {
  const { payload } = message;
  return (
    hasEnvelope(message) &&
    isObject(payload) &&
    Array.isArray(payload.tools) &&
    (payload.replace === undefined || typeof payload.replace === "boolean")
  );
};
