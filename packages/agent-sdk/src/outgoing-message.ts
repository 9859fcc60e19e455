import { randomUUID } from "node:crypto";
import {
  type AgentMessageType,
  RUNTIME_PROTOCOL_VERSION,
  type RuntimeError,
} from "@harnesskit/protocol/runtime";
import { isoTime } from "@harnesskit/wire/time";
import type { CallOrigin } from "./tool-context.ts";

/** A message of an agent (section 3). */
export interface OutgoingMessage {
  readonly v: number;
  readonly type: AgentMessageType;
  readonly id: string;
  readonly ts: string;
  payload: object;
  in_reply_to?: string | undefined;
  request_id?: string | undefined;
  correlation_id?: string | undefined;
  causation_id?: string | undefined;
  error?: RuntimeError | undefined;
}

/** What ties a message to others. */
export interface MessageLinks {
  /** The call that the message belongs to; its ids are echoed (section 3.1). */
  readonly origin?: CallOrigin | undefined;
  readonly inReplyTo?: string | undefined;
  readonly error?: RuntimeError | undefined;
}

/** Without fields that are undefined: each costs time when the message is written. */
export const toMessage = (
  nowMs: number,
  type: AgentMessageType,
  payload: object,
  { origin, inReplyTo, error }: MessageLinks = {},
): OutgoingMessage => {
  const message: OutgoingMessage = {
    v: RUNTIME_PROTOCOL_VERSION,
    type,
    id: randomUUID(),
    ts: isoTime(nowMs),
    payload,
  };
  if (inReplyTo !== undefined) message.in_reply_to = inReplyTo;
  if (origin?.request_id !== undefined) message.request_id = origin.request_id;
  if (origin?.correlation_id !== undefined) message.correlation_id = origin.correlation_id;
  if (origin?.causation_id !== undefined) message.causation_id = origin.causation_id;
  if (error) message.error = error;
  return message;
};

/** Bytes of a message's frame. */
export const frameBytes = (message: OutgoingMessage): number => Buffer.byteLength(JSON.stringify(message));
