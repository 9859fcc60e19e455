import { randomUUID } from "node:crypto";
import {
  type CoreMessage,
  type CoreMessageType,
  RUNTIME_PROTOCOL_VERSION,
  type RuntimeMessageOf,
} from "@harnesskit/protocol/runtime";
import { type Clock, isoTime } from "@harnesskit/wire/time";
import type { Call } from "./call.ts";

/** What ties a message to others, and what went wrong. */
type Links = {
  [Field in "in_reply_to" | "request_id" | "correlation_id" | "causation_id" | "actor" | "error"]?:
    | CoreMessage[Field]
    | undefined;
};

/** A message to an agent. */
export interface OutgoingMessage extends Links {
  readonly v: number;
  readonly type: string;
  readonly id: string;
  readonly ts: string;
  readonly payload: object;
}

/** Makes a message. A refusal has the type of the answer that it stands for, and an empty payload. */
export const toMessage = <T extends CoreMessageType>(
  clock: Clock,
  type: T,
  payload: RuntimeMessageOf<T>["payload"] | Record<string, never>,
  links?: Links,
  id: string = randomUUID(),
): OutgoingMessage => {
  const message = { v: RUNTIME_PROTOCOL_VERSION, type, id, ts: isoTime(clock.now()), payload };
  return links ? Object.assign(message, links) : message;
};

/** Without fields that are undefined: each costs time when the message is written. */
const linksOf = ({ requestId, correlationId, causationId }: Call): Links => {
  const links: Links = { request_id: requestId, correlation_id: correlationId };
  if (causationId !== undefined) links.causation_id = causationId;
  return links;
};

/** `core.tool.call` for a call, with the time that it has left. The message has the id of the call. */
export const callMessage = (clock: Clock, call: Call): OutgoingMessage => {
  const { idempotencyKey, caller, context, actor } = call.options;
  const payload: RuntimeMessageOf<"core.tool.call">["payload"] = {
    call_id: call.callId,
    tool_id: call.toolId,
    input: call.input,
    timeout_ms: Math.max(1, call.startedMs + call.timeoutMs - clock.elapsedMs()),
  };
  if (idempotencyKey !== undefined) payload.idempotency_key = idempotencyKey;
  if (caller) payload.caller = caller;
  const trace = call.span?.context;
  if (context || trace) payload.context = { ...context, ...trace };
  const links = linksOf(call);
  if (actor) links.actor = actor;
  return toMessage(clock, "core.tool.call", payload, links, call.callId);
};

/** `core.tool.cancel` for a call. */
export const cancelMessage = (
  clock: Clock,
  call: Call,
  reason: string | undefined,
  deadlineMs: number,
): OutgoingMessage => {
  const payload = { call_id: call.callId, reason: reason?.slice(0, 1024), deadline_ms: deadlineMs };
  return toMessage(clock, "core.tool.cancel", payload, linksOf(call));
};
