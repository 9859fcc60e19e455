import type {
  AhpEvent,
  AhpEventType,
  BatchableEventType,
  BlockingEventType,
  Decision,
  DecisionFor,
  EventPayload,
  HandshakeParams,
  QueryParams,
  QueryResult,
} from "@harnesskit/protocol/ahp";
import type { RequestId } from "@harnesskit/protocol/envelope";

/** An event of one type, with its payload as the type's schema has it. */
export type EventOf<T extends AhpEventType> = Omit<AhpEvent, "event_type" | "payload"> & {
  readonly event_type: T;
  readonly payload: EventPayload<T>;
};

/** Any event with a generic decision. */
export type GenericEvent = { [T in BatchableEventType]: EventOf<T> }[BatchableEventType];

/** What a handler gets besides the event. */
export interface HandlerCall<Context = unknown> {
  /**
   * Aborts when the decision is not needed any more: the time is over, the connection is closed, the client of an
   * exchange is gone, the server closes. No client waits for a notification: its signal aborts only for the time and the
   * server.
   */
  readonly signal: AbortSignal;
  /** What the transport knows about the sender. */
  readonly context: Context;
  /** What the agent said of itself. */
  readonly handshake: HandshakeParams;
  /** The id of the request; undefined for a notification. */
  readonly requestId: RequestId | undefined;
  /** The place in a batch, from 0; undefined for an event by itself. */
  readonly batchIndex: number | undefined;
}

/** A value now or later. */
export type MaybePromise<T> = T | Promise<T>;

/** What a function without a return gives. */
export type Nothing = ReturnType<() => void>;

/**
 * What handles an event of type `T`. A notification may be just noted; a decision on it matters only in a batch, and
 * without one it is allow.
 */
export type EventHandler<T extends AhpEventType, Context = unknown> = (
  event: EventOf<T>,
  call: HandlerCall<Context>,
) => MaybePromise<T extends BlockingEventType ? DecisionFor<T> : DecisionFor<T> | Nothing>;

/**
 * The policy: a function for each type of event that it decides or notes. A function that throws, returns
 * something else or takes too long fails the request with -32603, and never allows.
 */
export type AhpHandlers<Context = unknown> = {
  readonly [T in AhpEventType]?: EventHandler<T, Context>;
} & {
  /**
   * Answers `ahp/query`. Undefined for a query that it does not know, which is answered `{ answer: null, reason }`.
   * @default answers each so
   */
  readonly query?: (query: QueryParams, call: HandlerCall<Context>) => MaybePromise<QueryResult | undefined>;
  /**
   * Decides events with a generic decision that have no handler of their own, gates and notifications.
   * @default blocks gates, allows notifications
   */
  readonly fallback?: (event: GenericEvent, call: HandlerCall<Context>) => MaybePromise<Decision>;
};
