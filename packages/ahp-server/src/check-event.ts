import {
  type AhpEvent,
  type AhpEventType,
  ahpEvents,
  methodEventTypes,
  type RunLifecycle,
  type TaskList,
  type Verification,
  withoutNulls,
} from "@harnesskit/protocol/ahp";
import { JsonValueSchema, jsonLength } from "@harnesskit/protocol/envelope";
import type { EventOf } from "./handlers.ts";
import type { ResolvedLimits } from "./limits.ts";
import { parseWith, type Schema } from "./parse-params.ts";
import { invalidParams, Refusal } from "./refusal.ts";

/** Any event whose payload its type's schema accepted. */
export type CheckedEvent = { [T in AhpEventType]: EventOf<T> }[AhpEventType];

/** A durable contract with only the fields that its schema knows, for the state. */
export type Snapshot = { readonly length: number } & (
  | { readonly type: "run_lifecycle"; readonly payload: RunLifecycle }
  | { readonly type: "task_list"; readonly payload: TaskList }
  | { readonly type: "verification"; readonly payload: Verification }
);

/** An event that may be handled. */
export interface Accepted {
  readonly event: CheckedEvent;
  /** What a contract event says for the state. */
  readonly snapshot: Snapshot | undefined;
}

const toSnapshot = (type: AhpEventType, payload: unknown, limits: ResolvedLimits): Snapshot | Refusal => {
  const length = jsonLength(payload);
  if (length > limits.maxSnapshotLength) {
    const limit = limits.maxSnapshotLength;
    return invalidParams("snapshot_too_large", `The payload has more than ${limit} characters`, { limit });
  }
  if ((payload as RunLifecycle).run_id.length > limits.maxIdLength) {
    const limit = limits.maxIdLength;
    return invalidParams("id_too_long", `payload.run_id has more than ${limit} characters`, { limit });
  }
  return { type, payload, length } as Snapshot;
};

/**
 * Judges what an event's type and the limits say: its depth, then its payload. The handler gets a contract's payload
 * as it was sent, but for null in an optional field, and any other as its schema gives it, defaults filled in.
 */
export const checkEvent = (event: AhpEvent, limits: ResolvedLimits): Accepted | Refusal => {
  const { event_type: type, depth } = event;
  if (depth > limits.maxDepth) {
    const limit = limits.maxDepth;
    return invalidParams("depth_exceeded", `depth ${depth} exceeds the limit of ${limit}`, { limit });
  }
  const { contract, payload: schema } = ahpEvents[type];
  if (schema === JsonValueSchema) return { event: event as CheckedEvent, snapshot: undefined };
  const payload = parseWith(schema as Schema<unknown>, event.payload, `${type} payload`, "invalid_payload");
  if (payload instanceof Refusal) return payload;
  if (!contract) {
    const checked = payload === event.payload ? event : { ...event, payload };
    return { event: checked as CheckedEvent, snapshot: undefined };
  }
  const snapshot = toSnapshot(type, payload, limits);
  if (snapshot instanceof Refusal) return snapshot;
  const sent = withoutNulls(schema, event.payload);
  const checked = sent === event.payload ? event : { ...event, payload: sent };
  return { event: checked as CheckedEvent, snapshot };
};

/** -32602 for a blocking event as a notification, and for a notification event as a request. */
export const wrongKind = (type: AhpEventType): Refusal =>
  ahpEvents[type].blocking
    ? invalidParams("request_expected", `${type} waits for a decision and has to be a request`)
    : invalidParams("notification_expected", `${type} is not answered and has to be a notification`);

const notBatchable = (type: string, index: number): Refusal =>
  invalidParams("not_batchable", `events.${index}: ${type} cannot stand in a batch`, { index });

const isMethodType = (event: unknown): event is { event_type: string } =>
  typeof event === "object" &&
  event !== null &&
  (methodEventTypes as readonly unknown[]).includes((event as { event_type?: unknown }).event_type);

/** A refusal of one event as one of its batch. */
export const atIndex = (refusal: Refusal, index: number, event: unknown): Refusal => {
  if (refusal.reason === "invalid_params" && isMethodType(event))
    return notBatchable(event.event_type, index);
  const { code, message, reason, data } = refusal;
  return new Refusal(code, `events.${index}: ${message}`, reason, { ...data, index });
};

/** Judges whole events as a batch: each one's depth and payload first, then whether each may stand in a batch. */
export const checkBatch = (events: readonly AhpEvent[], limits: ResolvedLimits): Accepted[] | Refusal => {
  const accepted: Accepted[] = [];
  for (const [index, event] of events.entries()) {
    const checked = checkEvent(event, limits);
    if (checked instanceof Refusal) return atIndex(checked, index, event);
    accepted.push(checked);
  }
  const odd = events.findIndex(({ event_type: type }) => !ahpEvents[type].batchable);
  const found = events[odd];
  return found === undefined ? accepted : notBatchable(found.event_type, odd);
};
