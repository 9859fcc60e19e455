import {
  type AhpEvent,
  AhpEventSchema,
  type AhpEventType,
  ahpEvents,
  type BatchableEventType,
  type EventContext,
  EventContextSchema,
  type EventPayloadInput,
  type QueryParams,
  QueryParamsSchema,
  withoutNulls,
} from "@harnesskit/protocol/ahp";
import { type JsonObject, type JsonValue, JsonValueSchema } from "@harnesskit/protocol/envelope";
import type { Clock } from "@harnesskit/wire";
import { isoTime } from "@harnesskit/wire/time";
import { activeTrace } from "@harnesskit/wire/trace";
import * as z from "zod";
import { AhpUsageError, firstIssue } from "./errors.ts";

/** What an event says beside its type and payload. What is left out is filled in. */
export interface EventFields {
  /** How many decisions deep: 0 for an event that no other caused. @default 0 */
  readonly depth?: number | undefined;
  /** What the agent knows. @default none */
  readonly context?: EventContext | undefined;
  /** The trace context of the active span is added, if there is one. @default none */
  readonly metadata?: JsonObject | undefined;
  /** @default the client's */
  readonly session_id?: string | undefined;
  /** @default the client's */
  readonly agent_id?: string | undefined;
  /** RFC 3339. @default now */
  readonly timestamp?: string | undefined;
}

/** An event of a batch; what it leaves out is filled in as for a single one. */
export type BatchEvent<T extends BatchableEventType = BatchableEventType> = T extends BatchableEventType
  ? EventFields & { readonly event_type: T; readonly payload: EventPayloadInput<T> }
  : never;

export interface Sender {
  readonly sessionId: string;
  readonly agentId: string;
  readonly clock: Clock;
}

/** Returns the value as given. Throws `invalid_event`. */
const checkInput = <T>(schema: z.ZodType<T>, value: unknown, what: string): T => {
  try {
    schema.parse(value);
    return value as T;
  } catch (cause) {
    // Other than a ZodError it is a RangeError: the value contains itself.
    const message = cause instanceof z.ZodError ? firstIssue(cause) : "it is not JSON";
    throw new AhpUsageError("invalid_event", `${what}: ${message}`, { cause });
  }
};

const assertEventType: (value: unknown) => asserts value is AhpEventType = (value) => {
  if (typeof value === "string" && Object.hasOwn(ahpEvents, value)) return;
  throw new AhpUsageError("invalid_event", `${JSON.stringify(value)} is not a type of event`);
};

/**
 * An event of this agent, with what its caller leaves out. Only what the caller gave is checked. Throws `invalid_event`, and
 * `wrong_event_kind` unless events of this type wait for a decision, or do not, as `blocking` says.
 */
export const createEvent = (
  sender: Sender,
  eventType: AhpEventType,
  payload: unknown,
  fields: EventFields,
  blocking?: boolean,
): AhpEvent => {
  assertEventType(eventType);
  if (blocking !== undefined && ahpEvents[eventType].blocking !== blocking) {
    const kind = blocking ? "a notification and gets no decision" : "blocking and waits for a decision";
    throw new AhpUsageError("wrong_event_kind", `${eventType} is ${kind}`);
  }
  const { depth, context, session_id, agent_id, timestamp } = fields;
  const trace = activeTrace();
  const metadata = trace === undefined ? fields.metadata : { ...fields.metadata, ...trace };
  const { payload: schema } = ahpEvents[eventType];
  // Null is absent, as for the fields of the context and of a payload.
  const sent = schema === JsonValueSchema ? payload : withoutNulls(schema, payload);
  const event: AhpEvent = {
    event_type: eventType,
    session_id: session_id ?? sender.sessionId,
    agent_id: agent_id ?? sender.agentId,
    timestamp: timestamp ?? isoTime(sender.clock.now()),
    depth: depth ?? 0,
    payload: checkInput<unknown>(schema, sent, `the payload of ${eventType}`) as JsonValue,
  };
  if (depth === undefined && (context ?? metadata ?? session_id ?? agent_id ?? timestamp) == null)
    return event;
  if (context != null) event.context = withoutNulls(EventContextSchema, context) as EventContext;
  if (metadata != null) event.metadata = metadata;
  checkInput(AhpEventSchema, { ...event, payload: null }, eventType);
  return event;
};

/** The events of a batch, each with what it leaves out. Throws `invalid_event` and `not_batchable`. */
export const createBatch = (sender: Sender, events: readonly BatchEvent[]): AhpEvent[] => {
  if (!Array.isArray(events)) throw new AhpUsageError("invalid_event", "a batch is an array of events");
  return events.map((event: BatchEvent | null | undefined) => {
    const { event_type: eventType, payload, ...fields } = event ?? ({} as Partial<BatchEvent>);
    assertEventType(eventType);
    if (ahpEvents[eventType].batchable) return createEvent(sender, eventType, payload, fields);
    const text = `${eventType} has a decision of its own and cannot be sent in a batch`;
    throw new AhpUsageError("not_batchable", text);
  });
};

/** A query of this agent; a string is the payload's `question`. Throws `invalid_event`. */
export const createQuery = (sender: Sender, queryType: string, payload: string | JsonObject): QueryParams => {
  const params = {
    session_id: sender.sessionId,
    agent_id: sender.agentId,
    query_type: queryType,
    payload: typeof payload === "string" ? { question: payload } : payload,
  };
  return checkInput(QueryParamsSchema, params, "the query");
};
