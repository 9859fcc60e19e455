import {
  type CoreMessage,
  type CoreMessageType,
  RUNTIME_PROTOCOL_VERSION,
  type RuntimeMessageOf,
} from "@harnesskit/protocol/runtime";
import type { Clock } from "@harnesskit/wire";
import { UuidCounter } from "./uuid-counter.ts";

/** What ties a message to others. */
export interface Correlation {
  in_reply_to?: string | undefined;
  request_id?: string | undefined;
  correlation_id?: string | undefined;
  causation_id?: string | undefined;
  actor?: CoreMessage["actor"] | undefined;
  error?: CoreMessage["error"] | undefined;
}

/** A message to an agent. */
export interface OutgoingMessage extends Correlation {
  readonly v: number;
  readonly type: string;
  readonly id: string;
  readonly ts: string;
  readonly payload: object;
}

/** Makes the messages of one session: ids by counting, times written once a millisecond. */
export class MessageFactory {
  readonly #clock: Clock;
  readonly #ids = new UuidCounter();
  #stampedAt = Number.NaN;
  #stamp = "";

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  make<T extends CoreMessageType>(
    type: T,
    payload: RuntimeMessageOf<T>["payload"],
    correlation?: Correlation,
  ): OutgoingMessage {
    return this.makeAny(type, payload, correlation);
  }

  /** For a refusal, whose payload is not that of its type. */
  makeAny(type: string, payload: object, correlation?: Correlation): OutgoingMessage {
    const message: OutgoingMessage = {
      v: RUNTIME_PROTOCOL_VERSION,
      type,
      id: this.#ids.next(),
      ts: this.#now(),
      payload,
    };
    // Fields that are not there cost time when the message is written, though nothing is written of them.
    if (!correlation) return message;
    if (correlation.in_reply_to !== undefined) message.in_reply_to = correlation.in_reply_to;
    if (correlation.request_id !== undefined) message.request_id = correlation.request_id;
    if (correlation.correlation_id !== undefined) message.correlation_id = correlation.correlation_id;
    if (correlation.causation_id !== undefined) message.causation_id = correlation.causation_id;
    if (correlation.actor !== undefined) message.actor = correlation.actor;
    if (correlation.error !== undefined) message.error = correlation.error;
    return message;
  }

  #now(): string {
    const now = this.#clock.now();
    if (now !== this.#stampedAt) {
      this.#stampedAt = now;
      this.#stamp = new Date(now).toISOString();
    }
    return this.#stamp;
  }
}
