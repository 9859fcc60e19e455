import {
  type AhpEvent,
  AhpEventSchema,
  type AhpEventType,
  ahpEvents,
  type BatchableEventType,
  type EventContext,
  type EventPayloadInput,
  quickSafeParse,
  withoutNulls,
} from "@harnesskit/protocol/ahp";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { JsonValueSchema } from "@harnesskit/protocol/envelope";
import type { Clock } from "@harnesskit/wire";
import { AhpUsageError } from "./errors.ts";

/** What an event says beside its type and payload. */
export interface EventFields {
  /** How many decisions deep: 0 for an event that no other caused. @default 0 */
  readonly depth?: number | undefined;
  /** What the agent knows. @default none */
  readonly context?: EventContext | undefined;
  /** @default none */
  readonly metadata?: JsonObject | undefined;
}

/** A whole event of one type, which is sent as it is. */
export type FullEvent<T extends AhpEventType> = T extends AhpEventType
  ? Omit<AhpEvent, "event_type" | "payload"> & {
      readonly event_type: T;
      readonly payload: EventPayloadInput<T>;
    }
  : never;

/** An event of a batch; what it leaves out is filled in as for a single one. */
export type BatchEvent<T extends BatchableEventType = BatchableEventType> = T extends BatchableEventType
  ? Partial<Omit<AhpEvent, "event_type" | "payload">> & {
      readonly event_type: T;
      readonly payload: EventPayloadInput<T>;
    }
  : never;

export interface Sender {
  readonly sessionId: string;
  readonly agentId: string;
  readonly clock: Clock;
}

interface Issues {
  readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
}

interface Schema {
  safeParse(value: unknown): { success: true } | { success: false; error: Issues };
}

const invalid = (what: string, cause: unknown): AhpUsageError => {
  const [issue] = (cause as Partial<Issues>).issues ?? [];
  const place = issue?.path.length ? ` at ${issue.path.map(String).join(".")}` : "";
  return new AhpUsageError("invalid_event", `${what}${place}: ${issue?.message ?? "it is no JSON"}`, {
    cause,
  });
};

/** Throws `invalid_event` for a value that the schema does not take. */
export const assertForm = (schema: Schema, value: unknown, what: string): void => {
  let parsed: ReturnType<Schema["safeParse"]>;
  try {
    parsed = quickSafeParse(schema, value);
  } catch (cause) {
    // A value that contains itself.
    throw invalid(what, cause);
  }
  if (!parsed.success) throw invalid(what, parsed.error);
};

/** Throws `invalid_event` for a type that cannot be sent as an event. */
export const assertEventType: (value: unknown) => asserts value is AhpEventType = (value) => {
  if (typeof value === "string" && Object.hasOwn(ahpEvents, value)) return;
  throw new AhpUsageError("invalid_event", `there is no event of type ${JSON.stringify(value)}`);
};

/** Throws `wrong_event_kind` unless events of this type wait for a decision, or do not. */
export const assertKind = (eventType: AhpEventType, blocking: boolean): void => {
  if (ahpEvents[eventType].blocking === blocking) return;
  const kind = blocking ? "a notification and gets no decision" : "blocking and waits for a decision";
  throw new AhpUsageError("wrong_event_kind", `${eventType} is ${kind}`);
};

/** The event's own schema has judged a payload that may be any JSON. */
const assertPayload = (eventType: AhpEventType, payload: unknown): void => {
  const { payload: schema } = ahpEvents[eventType];
  if (schema !== JsonValueSchema) assertForm(schema, payload, `the payload of ${eventType}`);
};

let stampedAt = Number.NaN;
let stamp = "";

/** Events of one millisecond share their timestamp's text. */
const timestampAt = (timeMs: number): string => {
  if (timeMs !== stampedAt) {
    stamp = new Date(timeMs).toISOString();
    stampedAt = timeMs;
  }
  return stamp;
};

/** The event as it is sent: without null in the optional fields of the protocol. */
const toSent = (event: AhpEvent): AhpEvent => {
  const { event_type: type, context, metadata, payload } = event;
  const { payload: schema } = ahpEvents[type];
  const sent =
    context === undefined && metadata === undefined
      ? event
      : (withoutNulls(AhpEventSchema, event) as AhpEvent);
  if (schema === JsonValueSchema) return sent;
  const kept = withoutNulls(schema, payload);
  return kept === payload ? sent : { ...sent, payload: kept as AhpEvent["payload"] };
};

/** A new event of this agent. Throws `invalid_event`. */
export const makeEvent = (
  sender: Sender,
  eventType: AhpEventType,
  payload: unknown,
  { depth = 0, context, metadata }: EventFields = {},
): AhpEvent => {
  const event: Record<string, unknown> = {
    event_type: eventType,
    session_id: sender.sessionId,
    agent_id: sender.agentId,
    timestamp: timestampAt(sender.clock.now()),
    depth,
    payload,
  };
  if (context !== undefined) event.context = context;
  if (metadata !== undefined) event.metadata = metadata;
  assertForm(AhpEventSchema, event, eventType);
  assertPayload(eventType, payload);
  return toSent(event as unknown as AhpEvent);
};

/** An event that its caller built, with its own fields as they are, but for null in an optional one. Throws `invalid_event`. */
export const keepEvent = (event: unknown): AhpEvent => {
  assertForm(AhpEventSchema, event, "the event");
  const full = event as AhpEvent;
  assertPayload(full.event_type, full.payload);
  return toSent(full);
};

/** The events of a batch, each with what it leaves out. Throws `invalid_event` and `not_batchable`. */
export const completeEvents = (sender: Sender, events: readonly BatchEvent[]): AhpEvent[] => {
  if (!Array.isArray(events)) throw new AhpUsageError("invalid_event", "a batch is an array of events");
  return events.map((event: BatchEvent) => completeEvent(sender, event));
};

/** An event of a batch, with what it leaves out. Throws `invalid_event` and `not_batchable`. */
const completeEvent = (sender: Sender, event: BatchEvent): AhpEvent => {
  const {
    event_type: eventType,
    payload,
    session_id,
    agent_id,
    timestamp,
    depth,
    context,
    metadata,
  } = event ?? {};
  assertEventType(eventType);
  if (!ahpEvents[eventType].batchable) {
    throw new AhpUsageError("not_batchable", `${eventType} has a decision of its own and is sent by itself`);
  }
  const made = makeEvent(sender, eventType, payload, { depth, context, metadata });
  if (session_id === undefined && agent_id === undefined && timestamp === undefined) return made;
  return keepEvent({
    ...made,
    session_id: session_id ?? made.session_id,
    agent_id: agent_id ?? made.agent_id,
    timestamp: timestamp ?? made.timestamp,
  });
};
