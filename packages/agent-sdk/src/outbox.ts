import { randomUUID } from "node:crypto";
import {
  type AgentMessageType,
  RUNTIME_PROTOCOL_VERSION,
  type RuntimeError,
  type RuntimeErrorCode,
} from "@harnesskit/protocol/runtime";
import { type Channel, createDeferred, type Deferred, HarnessError } from "@harnesskit/wire";
import { type Clock, isoTime } from "@harnesskit/wire/time";
import type { AgentLimits } from "./limits.ts";
import { runtimeError } from "./runtime-error.ts";
import type { CallOrigin } from "./tool-context.ts";

/** A message of an agent (section 3). */
export interface OutgoingMessage {
  readonly v: number;
  readonly type: AgentMessageType;
  readonly id: string;
  readonly ts: string;
  readonly payload: object;
  in_reply_to?: string | undefined;
  request_id?: string | undefined;
  correlation_id?: string | undefined;
  causation_id?: string | undefined;
  error?: RuntimeError | undefined;
}

/** What ties a message to others. */
interface MessageLinks {
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

/** A message on its way out. */
export interface Outgoing {
  /** About what it takes, in bytes. */
  readonly bytes: number;
  /** A call's own stream, which has a limit of its own. */
  readonly isStream?: true | undefined;
  /** Makes the message. Called once, when its turn has come. */
  take(): object;
  /** Called when the channel refuses it (`frame_too_large`, `invalid_argument`), so that something else can be sent. */
  onRefused?(): void;
}

/** Messages that were handed over together and settle together. */
interface Handed {
  readonly settled: Promise<void>;
  readonly first: Outgoing;
  bytes: number;
}

/** What leaves for the core, in order. Up to `maxSendBytes` are handed to the channel; the rest waits here. */
export class Outbox {
  readonly clock: Clock;
  readonly #channel: Pick<Channel, "send" | "close">;
  readonly #limits: AgentLimits;
  readonly #waiting: Outgoing[] = [];
  #pendingBytes = 0;
  #handed: Handed | undefined;
  #room: Deferred<void> | undefined;
  /** `broken`: the channel takes nothing more and is about to close. */
  #state: "open" | "broken" | "closed" = "open";
  #waitingReplies = 0;

  constructor(channel: Pick<Channel, "send" | "close">, limits: AgentLimits, clock: Clock) {
    this.#channel = channel;
    this.#limits = limits;
    this.clock = clock;
  }

  /** True while a message would leave at once. */
  get isFree(): boolean {
    if (this.#state !== "open") return this.#state === "closed";
    return this.#pendingBytes < this.#limits.maxSendBytes && this.#waiting.length === 0;
  }

  /** True when so many replies wait that the agent should stop reading. */
  get isOverfull(): boolean {
    return this.#waitingReplies > this.#limits.maxWaitingReplies;
  }

  /** Sends a message of about so many bytes; returns its id. */
  send(type: AgentMessageType, payload: object, links: MessageLinks = {}, bytes = 512): string {
    const message = toMessage(this.clock.now(), type, payload, links);
    this.push({ bytes, take: () => message });
    return message.id;
  }

  /** Sends `agent.error`. */
  error(code: RuntimeErrorCode, problem: string, links: MessageLinks): void {
    this.send("agent.error", {}, { ...links, error: runtimeError(code, problem) });
  }

  push(message: Outgoing): void {
    if (this.#state !== "open") return;
    if (this.isFree) {
      this.#hand(message);
      return;
    }
    this.#waiting.push(message);
    if (!message.isStream) this.#waitingReplies++;
  }

  /** Settles when what waits has left, or the channel is closed. Never rejects. */
  room(): Promise<void> {
    if (this.isFree) return Promise.resolve();
    this.#room ??= createDeferred<void>();
    return this.#room.promise;
  }

  /** The channel is closed: drops what waits, and resolves {@link room}. */
  close(): void {
    this.#state = "closed";
    this.#waiting.length = 0;
    this.#signalRoom();
  }

  #hand(message: Outgoing): void {
    const settled = this.#channel.send(message.take());
    this.#pendingBytes += message.bytes;
    if (this.#handed?.settled === settled) {
      this.#handed.bytes += message.bytes;
      return;
    }
    const handed: Handed = { settled, first: message, bytes: message.bytes };
    this.#handed = handed;
    settled.then(
      () => this.#settled(handed),
      (error: unknown) => this.#failed(handed, error),
    );
  }

  #settled(handed: Handed): void {
    this.#pendingBytes -= handed.bytes;
    if (this.#handed === handed) this.#handed = undefined;
    this.#pump();
  }

  /** A refused message has a promise of its own, so that it is the only one in its record. */
  #failed(handed: Handed, error: unknown): void {
    const code = HarnessError.isInstance(error) ? error.code : undefined;
    if (code === "frame_too_large" || code === "invalid_argument") {
      this.#settled(handed);
      handed.first.onRefused?.();
      return;
    }
    if (this.#state === "open") this.#state = "broken";
    this.#waiting.length = 0;
    if (code === "connection_closed") return;
    const cause = new HarnessError("send_failed", "a message could not be sent", { cause: error });
    void this.#channel.close(HarnessError.isInstance(error) ? error : cause);
  }

  #pump(): void {
    if (this.#state !== "open") return;
    while (this.#pendingBytes < this.#limits.maxSendBytes) {
      const message = this.#waiting.shift();
      if (!message) break;
      if (!message.isStream) this.#waitingReplies--;
      this.#hand(message);
    }
    if (this.isFree) this.#signalRoom();
  }

  #signalRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}
