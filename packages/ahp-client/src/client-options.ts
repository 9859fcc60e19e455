/// <reference lib="esnext.disposable" preserve="true" />
import type {
  AhpEvent,
  BlockingEventType,
  Decision,
  DecisionFor,
  EventPayloadInput,
  HandshakeResult,
  NotificationEventType,
  QueryResult,
} from "@harnesskit/protocol/ahp";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { Clock, CloseReason, HarnessError } from "@harnesskit/wire";
import type { ReconnectOptions, SessionState } from "@harnesskit/wire/rpc";
import type { HarnessEndpoint } from "./connections.ts";
import type { CallName, DeadlineOptions } from "./deadlines.ts";
import type { BatchEvent, EventFields } from "./events.ts";
import type { Verdict } from "./verdict.ts";

/** Where an error that `onError` reports comes from. */
export type AhpErrorContext =
  /**
   * `message`: an answer that is late or invalid was dropped; `connection`: an attempt to connect failed; `listener`: a listener of
   * `onState` threw.
   */
  | { readonly kind: "message" | "connection" | "listener" }
  /** This event never reached the harness, or its fate is unknown: an `AhpFailure`, `overloaded` where the buffer was full. */
  | { readonly kind: "notification"; readonly event: AhpEvent };

export type AhpClientOptions = HarnessEndpoint &
  DeadlineOptions & {
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
    readonly limits?:
      | {
          /** Calls that wait for answers, or for a connection; one more is refused with `overloaded`. @default 256 */
          readonly maxInFlight?: number | undefined;
          /** Notifications that wait to be sent, those in the transport's hands included; beyond, the oldest is lost. @default 1000 */
          readonly maxBufferedNotifications?: number | undefined;
        }
      | undefined;
    /**
     * Makes a lost connection anew, with a handshake. A transport that starts a child process starts another one.
     * @default 10 attempts, from 100 ms to 30 s apart
     */
    readonly reconnect?: false | ReconnectOptions | undefined;
    /**
     * Sends calls again whose connection was lost before their answer: those that the harness may see twice (`confirmation` asks a person
     * twice). @default none: a call is sent once
     */
    readonly resend?:
      | {
          readonly calls: readonly CallName[];
          /** How often one call is sent at the most. @default 2 */
          readonly maxAttempts?: number | undefined;
        }
      | undefined;
    /** Receives errors that no call reports, lost notifications among them. What it throws is ignored. @default no report */
    readonly onError?: ((error: HarnessError, context: AhpErrorContext) => void) | undefined;
    /** @default the real time */
    readonly clock?: Clock | undefined;
  };

export interface AhpCallOptions {
  /** How long this call waits. @default its deadline of the client's */
  readonly timeoutMs?: number | undefined;
  /** Gives the call up: the refusing decision with `cancelled`. */
  readonly signal?: AbortSignal | undefined;
}

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
  /**
   * Connects, and introduces the agent with `ahp/handshake`; resolves at once when connected. Everything else throws
   * `handshake_required` (`AhpUsageError`) until one has succeeded. With `retry` it tries again until a handshake succeeds, with the
   * waits and attempts of `reconnect`; meanwhile calls wait, and notifications are kept. Rejects with an `AhpFailure`, such as
   * `unreachable` or `version_mismatch`; then it can be called again.
   */
  connect(options?: AhpCallOptions & { readonly retry?: boolean | undefined }): Promise<HandshakeResult>;
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
   * Sends a notification, and does not wait. While there is no connection it is kept, within limits. Returns false where it is lost at
   * once: deeper than the harness takes, or the client is closed. Throws an `AhpUsageError` as `decide` rejects with one.
   */
  notify<T extends NotificationEventType>(
    eventType: T,
    payload: EventPayloadInput<T>,
    options?: EventFields,
  ): boolean;
  /**
   * Asks about several events at once. Resolves with as many verdicts, in their order; a batch that is not answered
   * usably, or is over a limit of the harness, is `block` for each. Rejects only as `decide`, before anything is sent, and
   * with `not_batchable`.
   */
  batch(events: readonly BatchEvent[], options?: AhpCallOptions): Promise<Verdict<Decision>[]>;
  /**
   * Asks the harness for anything else; a string is the payload's `question`. There is no safe answer: it rejects with an `AhpFailure`;
   * and as `decide`, before anything is sent.
   */
  query(queryType: string, payload: string | JsonObject, options?: AhpCallOptions): Promise<QueryResult>;
  /**
   * Settles with true when every notification so far is sent or lost, with false when the time is over. Rejects with
   * `invalid_argument` for an invalid time. @param options.timeoutMs in milliseconds, 5000 by default
   */
  flush(options?: { readonly timeoutMs?: number }): Promise<boolean>;
  /** Settles what is pending, at once, and closes the connection. Notifications that wait are lost; see `flush`. Idempotent. */
  close(): Promise<void>;
  /** Settles when the client is closed; never rejects. */
  readonly closed: Promise<CloseReason>;
  [Symbol.asyncDispose](): Promise<void>;
}
