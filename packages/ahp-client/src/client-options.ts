/// <reference lib="esnext.disposable" preserve="true" />
import type {
  BlockingEventType,
  Decision,
  DecisionFor,
  EventPayloadInput,
  HandshakeResult,
  NotificationEventType,
  QueryResult,
} from "@harnesskit/protocol/ahp";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import {
  type Channel,
  type Clock,
  type CloseReason,
  type CreateId,
  defineLimits,
  type Exchange,
  type HarnessError,
  type LimitsOf,
  type Transport,
} from "@harnesskit/wire";
import type { ExchangeCall, ReconnectOptions, SessionState } from "@harnesskit/wire/rpc";
import type { DeadlineOptions } from "./deadlines.ts";
import type { BatchEvent, EventFields } from "./events.ts";
import type { HeartbeatState } from "./heartbeat.ts";
import type { FailOpenOptions, Verdict } from "./judge.ts";
import type { LossReport } from "./loss-report.ts";

/** What one client may use at most. */
export const ahpClientLimits = defineLimits({
  /** Calls that wait for answers, or for a connection; one more is refused with `overloaded`. */
  maxInFlight: 256,
  /** Notifications that wait to be sent, those in the transport's hands included. */
  maxBufferedNotifications: 1000,
  /** Bytes of these, as JSON. */
  maxBufferedBytes: 4 * 1024 * 1024,
  /** The longest deadline that a harness's `timeout_ms` can cause. */
  maxTimeoutMs: 600_000,
});
export type AhpClientLimits = LimitsOf<typeof ahpClientLimits>;

/** One message out, one reply back or none: `createHttpExchange` of transport-http is one. It may reject. */
export type AhpExchange = Exchange<ExchangeCall>;

/** The way to the harness; exactly one of the three. */
export type HarnessEndpoint =
  /** Opens channels: one, and another one after each loss. */
  | {
      readonly transport: Transport;
      readonly channel?: never | undefined;
      readonly exchange?: never | undefined;
    }
  /** A channel that is open and not started. Its loss is the end. */
  | {
      readonly channel: Channel;
      readonly transport?: never | undefined;
      readonly exchange?: never | undefined;
    }
  /** Posts each message by itself. It stays its owner's to close. */
  | {
      readonly exchange: AhpExchange;
      readonly transport?: never | undefined;
      readonly channel?: never | undefined;
    };

/** What may be sent once more after its connection was lost. */
export interface ResendOptions {
  /** Calls that the harness may see twice. `confirmation` asks a person twice. */
  readonly calls: readonly (BlockingEventType | "query" | "batch")[];
  /** How often one call is sent at the most. @default 2 */
  readonly maxAttempts?: number | undefined;
}

/** Where an error that `onError` reports comes from. */
export interface AhpErrorContext {
  /**
   * `message`: an answer that is late or invalid was dropped; `connection`: an attempt to connect failed; `heartbeat`: the
   * state of a heartbeat threw or is invalid; `listener`: a listener of `onState` threw.
   */
  readonly kind: "message" | "connection" | "heartbeat" | "listener";
}

export type AhpClientOptions = HarnessEndpoint &
  DeadlineOptions &
  FailOpenOptions & {
    /** What the agent is called in the handshake. */
    readonly framework: string;
    /** Its version, in the handshake. */
    readonly version: string;
    /** What the agent can do, for the handshake. @default nothing */
    readonly capabilities?: readonly string[] | undefined;
    /** @default a random one */
    readonly sessionId?: string | undefined;
    /** @default a random one */
    readonly agentId?: string | undefined;
    /** @default see each limit of `ahpClientLimits` */
    readonly limits?: Partial<AhpClientLimits> | undefined;
    /**
     * Makes a lost connection anew, with a handshake; not for a `channel`. A transport that starts a child process starts
     * another one. @default 10 attempts, from 100 ms to 30 s apart
     */
    readonly reconnect?: false | ReconnectOptions | undefined;
    /** Sends calls again whose connection was lost before their answer. @default none: a call is sent once */
    readonly resend?: ResendOptions | undefined;
    /**
     * Reports lost notifications: at once, or, of those lost without a connection, when there is one again or none will
     * come. What it throws is ignored. @default no report
     */
    readonly onLoss?: ((report: LossReport) => void) | undefined;
    /**
     * Reports lost notifications to the harness too, except those that it refused: with an `error` event whose payload has
     * `code: "notifications_lost"`, `count`, `bytes`, `by_type`, `by_reason`, `since` and `until`. @default true
     */
    readonly reportLosses?: boolean | undefined;
    /** Receives errors that no call reports. For a log. What it throws is ignored. @default no report */
    readonly onError?: ((error: HarnessError, context: AhpErrorContext) => void) | undefined;
    /** @default the real time */
    readonly clock?: Clock | undefined;
    /** @default random ids */
    readonly createId?: CreateId | undefined;
  };

export interface AhpCallOptions {
  /** How long this call waits. @default the deadline of its class */
  readonly timeoutMs?: number | undefined;
  /** Gives the call up: the refusing decision with `cancelled`. */
  readonly signal?: AbortSignal | undefined;
}

export interface AhpConnectOptions extends AhpCallOptions {
  /**
   * Try again until a handshake succeeds, with the waits and attempts of `reconnect`. Meanwhile calls wait, and notifications
   * are kept. @default false
   */
  readonly retry?: boolean | undefined;
}

/** The answer to a notification, given at once. */
export interface NotificationReceipt {
  /** Always allow: a notification decides nothing. */
  readonly decision: { readonly decision: "allow" };
  /** False when it was dropped: over a limit of the harness or of the buffer, or the client is closed. It counts as lost. */
  readonly accepted: boolean;
}

export interface AhpClientStats {
  /** Events that were handed over to be sent, of batches too. */
  readonly events: number;
  /** Calls that wait for their answers. */
  readonly inFlight: number;
  readonly notificationsSent: number;
  readonly notificationsBuffered: number;
  readonly notificationsLost: number;
  /** Answers that came late, twice or to no call, and what was not a message. */
  readonly droppedMessages: number;
  readonly reconnects: number;
}

/** A query's payload: a string is its question. */
export type QueryPayload = string | JsonObject;

/** The agent's side of AHP 2.4. */
export interface AhpClient {
  readonly sessionId: string;
  readonly agentId: string;
  /**
   * `new` until a handshake succeeds (`connecting` while `connect` retries); `ready`; `reconnecting` from a loss until the
   * next handshake; `lost` when no further attempt is made (`connect` begins anew); `closed`.
   */
  readonly state: SessionState;
  /** Calls the listener after each change of `state`, until the function that it returns is called. */
  onState(listener: (state: SessionState) => void): () => void;
  /** What the last handshake brought; undefined before the first. */
  readonly harness: HandshakeResult | undefined;
  /** What was counted so far; a copy. */
  stats(): AhpClientStats;
  /**
   * Connects, and introduces the agent with `ahp/handshake`; when connected, introduces it once more. Everything else
   * throws `handshake_required` (`AhpUsageError`) until one has succeeded. Rejects with an `AhpFailure`, such as
   * `unreachable` or `version_mismatch`; then it can be called again.
   */
  connect(options?: AhpConnectOptions): Promise<HandshakeResult>;
  /**
   * Asks about a blocking event. Resolves with the harness's decision of its type, or with the refusing one and why. Rejects only
   * with an `AhpUsageError` (`handshake_required`, `invalid_event`, `wrong_event_kind`), and with `invalid_argument` for an
   * invalid `timeoutMs`; then nothing was sent.
   */
  decide<T extends BlockingEventType>(
    eventType: T,
    payload: EventPayloadInput<T>,
    options?: EventFields & AhpCallOptions,
  ): Promise<Verdict<DecisionFor<T>>>;
  /**
   * Sends a notification, and does not wait. While there is no connection it is kept, within limits. Throws an
   * `AhpUsageError` as `decide` rejects with one.
   */
  notify<T extends NotificationEventType>(
    eventType: T,
    payload: EventPayloadInput<T>,
    options?: EventFields,
  ): NotificationReceipt;
  /**
   * Asks about several events at once. Resolves with as many verdicts, in their order; a batch that is not answered
   * usably, or is over a limit of the harness, is `block` for each. Rejects only as `decide`, before anything is sent, and
   * with `not_batchable`.
   */
  batch(events: readonly BatchEvent[], options?: AhpCallOptions): Promise<Verdict<Decision>[]>;
  /**
   * Asks the harness for anything else. There is no safe answer: it rejects with an `AhpFailure`; and as `decide`, before
   * anything is sent.
   */
  query(queryType: string, payload: QueryPayload, options?: AhpCallOptions): Promise<QueryResult>;
  /**
   * Sends a heartbeat now and every `intervalMs`; `state` is the agent's, or a function that returns it. Without a connection a
   * heartbeat is left out; one whose `state` throws or is invalid counts as lost (`onLoss`, `handler_failed` or `invalid_event`). Returns a
   * function that ends it. Throws `invalid_argument`.
   */
  startHeartbeat(intervalMs: number, state: string | (() => HeartbeatState)): () => void;
  /**
   * Settles with true when every notification so far is sent or counted as lost, with false when the time is over.
   * Rejects with `invalid_argument` for an invalid time. @param options.timeoutMs in milliseconds, 5000 by default
   */
  flush(options?: { readonly timeoutMs?: number }): Promise<boolean>;
  /** Settles what is pending, at once, and closes the connection. Notifications that wait are lost; see `flush`. Idempotent. */
  close(): Promise<void>;
  /** Settles when the client is closed; never rejects. */
  readonly closed: Promise<CloseReason>;
  [Symbol.asyncDispose](): Promise<void>;
}
