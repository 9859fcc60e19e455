import {
  type AgentMessage,
  type AgentMessageType,
  type AgentToolsRegister,
  AgentToolsRegisterSchema,
  agentMessages,
  type CoreMessageType,
  isUsualResult,
  RUNTIME_PROTOCOL_VERSION,
  RuntimeErrorCode,
  type RuntimeMessageOf,
} from "@harnesskit/protocol/runtime";
import type { HarnessError } from "@harnesskit/wire";
import { isObject, maxMessageDepth, measureJson } from "@harnesskit/wire/json";
import type { CoreContext } from "./core-context.ts";
import { toMessage } from "./core-message.ts";
import { loadSchemaCompiler } from "./judge-tool.ts";
import type { Session } from "./session.ts";

/** Values in a control message: anything but a result, a chunk or a registration. Usual ones have a few dozen. */
const maxControlNodes = 20_000;

const { FrameTooLarge, InvalidMessage, OutOfOrder, UnknownType, UnsupportedVersion } = RuntimeErrorCode;

type RawMessage = Record<string, unknown>;

const isRuntimeId = (value: unknown): value is string =>
  typeof value === "string" && value.length > 0 && value.length <= 256;

const isAgentType = (type: string): type is AgentMessageType => Object.hasOwn(agentMessages, type);

const isSmall = (message: RawMessage): boolean => {
  try {
    return measureJson(message, { maxDepth: maxMessageDepth }).nodes <= maxControlNodes;
  } catch {
    return false;
  }
};

const parse = (message: RawMessage, type: AgentMessageType): AgentMessage | undefined => {
  if (type === "agent.tools.register") {
    // The entries of `tools` are judged one by one, later.
    const { payload } = message;
    if (!isObject(payload) || !Array.isArray(payload.tools)) return undefined;
    const { tools } = payload;
    const { data } = AgentToolsRegisterSchema.safeParse({ ...message, payload: { ...payload, tools: [] } });
    return data && { ...data, payload: { ...data.payload, tools } };
  }
  const isBulk = type === "agent.tool.result" || type === "agent.tool.stream";
  return isBulk || isSmall(message) ? agentMessages[type].safeParse(message).data : undefined;
};

/** Reads what an agent sends after its hello: each message is checked against its schema once, here. */
export class SessionInbox {
  readonly #context: CoreContext;
  readonly #session: Session;
  #invalid = 0;

  constructor(context: CoreContext, session: Session) {
    this.#context = context;
    this.#session = session;
  }

  /** A promise holds back what follows. */
  take(message: unknown): void | Promise<void> {
    if (isUsualResult(message)) this.#recordStray(this.#session.calls.takeResult(message));
    else if (!isObject(message) || !Number.isSafeInteger(message.v) || typeof message.type !== "string") {
      this.#refuse(isObject(message) ? message : {}, "not a message of the runtime protocol");
    } else if (message.v !== RUNTIME_PROTOCOL_VERSION) {
      this.#violation(UnsupportedVersion, "the version that was agreed on is 1", message);
    } else if (message.type === "agent.hello") {
      this.#violation(OutOfOrder, "agent.hello was sent before", message);
    } else if (isAgentType(message.type)) {
      const loading = message.type === "agent.tools.register" ? loadSchemaCompiler() : undefined;
      if (loading !== undefined) return loading.then(() => this.#session.receive(message));
      const parsed = parse(message, message.type);
      if (parsed) this.#takeParsed(parsed);
      else this.#malformed(message, message.type);
    } else if (isRuntimeId(message.request_id)) {
      // A message without a request id expects no answer, and new types are ignored (section 6.2).
      this.#answerError(message, UnknownType, "the type is unknown");
    }
  }

  takeFrameError(error: HarnessError): void {
    if (error.code === "frame_too_large") {
      this.#violation(FrameTooLarge, `a frame exceeds ${this.#context.limits.maxFrameBytes} bytes`, {});
    } else this.#refuse({}, "not a message of the runtime protocol");
  }

  #takeParsed(message: AgentMessage): void {
    const session = this.#session;
    switch (message.type) {
      case "agent.tool.result":
        this.#recordStray(session.calls.takeResult(message));
        return;
      case "agent.tool.stream":
        this.#recordStray(session.calls.takeStream(message) ? undefined : "chunk");
        return;
      case "agent.heartbeat":
        if (message.payload.session_id === session.sessionId) session.heartbeat(message.payload);
        else this.#malformed(message, message.type);
        return;
      case "agent.tools.register":
        this.#register(message);
        return;
      case "agent.tools.unregister": {
        const toolIds = session.tools.unregister(message.payload.tool_ids);
        const details = { tools: toolIds.length };
        session.record({ action: "tools.unregistered", outcome: "ok", details });
        this.#answer(message, "core.tools.unregistered", { tool_ids: toolIds });
        if (toolIds.length > 0) session.toolsChanged();
        return;
      }
      case "agent.pong":
        session.pong(message.in_reply_to ?? "");
        return;
      case "agent.error":
        session.calls.takeError(message.in_reply_to ?? "", message.error);
        return;
      default:
      // An acknowledged cancellation needs no action: the result follows or not.
    }
  }

  #register(message: AgentToolsRegister): void {
    const session = this.#session;
    const { tools, replace = false, more = false } = message.payload;
    const { registered, rejected, rejectedCount } = session.tools.register(tools, replace);
    session.record({
      action: "tools.registered",
      outcome: rejectedCount > 0 ? "refused" : "ok",
      details: { registered: registered.length, rejected: rejectedCount, replace },
    });
    for (const { tool_id, error } of rejected) {
      const details = { code: error.code, reason: error.message };
      session.record({ action: "tool.rejected", outcome: "refused", tool_id, details });
    }
    const payload = { registered, rejected: rejected.length > 0 ? rejected : undefined };
    this.#answer(message, "core.tools.registered", payload);
    // An agent may have no tools: that it says so is what is waited for.
    if (!more && (registered.length > 0 || replace || tools.length === 0)) session.toolsChanged();
  }

  #answer<T extends CoreMessageType>(
    { id, request_id }: AgentMessage,
    type: T,
    payload: RuntimeMessageOf<T>["payload"],
  ): void {
    this.#session.send(toMessage(this.#context.clock, type, payload, { in_reply_to: id, request_id }));
  }

  #recordStray(kind: string | undefined): void {
    if (kind === undefined) return;
    this.#session.record({ action: "tool.stray", outcome: "refused", details: { kind } });
  }

  #malformed(message: RawMessage, type: string): void {
    // A call with an invalid result has ended, with an unknown outcome.
    const callId = isObject(message.payload) ? message.payload.call_id : undefined;
    if (type === "agent.tool.result" && typeof callId === "string") {
      this.#session.calls.takeInvalidResult(callId);
    }
    this.#refuse(message, "the message does not match the schema of its type");
  }

  #refuse(message: RawMessage, problem: string): void {
    if (++this.#invalid > this.#context.limits.maxInvalidMessages) {
      this.#violation(InvalidMessage, "too many messages are invalid", message);
      return;
    }
    const details = { code: InvalidMessage };
    this.#session.record({ action: "agent.violation", outcome: "refused", details });
    this.#answerError(message, InvalidMessage, problem);
  }

  /** Never to an answer: errors that answer each other would never end. */
  #answerError(message: RawMessage, code: RuntimeErrorCode, problem: string): void {
    const { id, request_id: requestId, in_reply_to: inReplyTo } = message;
    if (inReplyTo !== undefined) return;
    const links = {
      in_reply_to: isRuntimeId(id) ? id : undefined,
      request_id: isRuntimeId(requestId) ? requestId : undefined,
      error: { code, message: problem, where: "core" },
    };
    this.#session.send(toMessage(this.#context.clock, "core.error", {}, links));
  }

  /** Ends the session. */
  #violation(code: RuntimeErrorCode, problem: string, { id }: RawMessage): void {
    const outcome = code === FrameTooLarge ? "limited" : "refused";
    this.#session.record({ action: "agent.violation", outcome, details: { code, closes: true } });
    this.#session.refuse({ code, message: problem, where: "core" }, isRuntimeId(id) ? id : undefined);
  }
}
