import {
  type AhpEvent,
  type AhpEventType,
  ahpEvents,
  methodEventTypes,
  type RunLifecycle,
  withoutNulls,
} from "@harnesskit/protocol/ahp";
import { type JsonObject, JsonValueSchema } from "@harnesskit/protocol/envelope";
import { ProtocolError } from "@harnesskit/wire";
import { jsonLength } from "@harnesskit/wire/json";
import type { EventOf } from "./handlers.ts";
import type { AhpServerLimits } from "./limits.ts";
import { parseWith } from "./read-params.ts";
import { invalidParams, refusalReasonOf } from "./refusal.ts";
import type { ContractRecord } from "./state/state-record.ts";

/** Any event whose payload its type's schema accepted. */
export type CheckedEvent = { [T in AhpEventType]: EventOf<T> }[AhpEventType];

/** A durable contract with only the fields that its schema knows, for the state. */
export type Snapshot = Pick<ContractRecord, "kind" | "payload">;

/** An event whose payload its type's schema accepted. */
export interface EventContent {
  readonly event: CheckedEvent;
  /** What a contract event says for the state. */
  readonly snapshot: Snapshot | undefined;
}

const toSnapshot = (type: AhpEventType, payload: unknown, limits: AhpServerLimits): Snapshot => {
  if (jsonLength(payload) > limits.maxSnapshotLength) {
    const limit = limits.maxSnapshotLength;
    throw invalidParams("snapshot_too_large", `The payload has more than ${limit} characters`, { limit });
  }
  if ((payload as RunLifecycle).run_id.length > limits.maxIdLength) {
    const limit = limits.maxIdLength;
    throw invalidParams("id_too_long", `payload.run_id has more than ${limit} characters`, { limit });
  }
  return { kind: type, payload } as Snapshot;
};

/**
 * Checks what an event's type and the limits say: its depth, then its payload. Throws -32602. The handler gets a contract's
 * payload as it was sent, except for null in an optional field, and any other as its schema returns it, defaults filled in.
 */
export const checkEvent = (event: AhpEvent, limits: AhpServerLimits): EventContent => {
  const { event_type: type, depth } = event;
  if (depth > limits.maxDepth) {
    const limit = limits.maxDepth;
    throw invalidParams("depth_exceeded", `depth ${depth} exceeds the limit of ${limit}`, { limit });
  }
  const { contract, payload: schema } = ahpEvents[type];
  if (schema === JsonValueSchema) return { event: event as CheckedEvent, snapshot: undefined };
  const parsed = parseWith<unknown>(schema, event.payload, `${type} payload`, "invalid_payload");
  const snapshot = contract ? toSnapshot(type, parsed, limits) : undefined;
  const payload = contract ? withoutNulls(schema, event.payload) : parsed;
  const checked = payload === event.payload ? event : { ...event, payload };
  return { event: checked as CheckedEvent, snapshot };
};

/** -32602 for a blocking event as a notification, and for a notification event as a request. */
export const wrongKind = (type: AhpEventType): ProtocolError =>
  ahpEvents[type].blocking
    ? invalidParams("request_expected", `${type} waits for a decision and must be a request`)
    : invalidParams("notification_expected", `${type} is not answered and must be a notification`);

const notBatchable = (type: string, index: number): ProtocolError =>
  invalidParams("not_batchable", `events.${index}: ${type} is not allowed in a batch`, { index });

const isMethodType = (event: unknown): event is { event_type: string } =>
  typeof event === "object" &&
  event !== null &&
  (methodEventTypes as readonly unknown[]).includes((event as { event_type?: unknown }).event_type);

/** Calls `read` for one event of a batch; a refusal of it says which event. */
export const atIndex = <T>(index: number, event: unknown, read: () => T): T => {
  try {
    return read();
  } catch (error) {
    if (!ProtocolError.isInstance(error)) throw error;
    if (refusalReasonOf(error) === "invalid_params" && isMethodType(event))
      throw notBatchable(event.event_type, index);
    const data = { ...(error.data as JsonObject), index };
    throw new ProtocolError(error.rpcCode, `events.${index}: ${error.message}`, { data });
  }
};

/** Checks whole events as a batch: each one's depth and payload first, then whether each is allowed in a batch. */
export const checkBatch = (events: readonly AhpEvent[], limits: AhpServerLimits): EventContent[] => {
  const checked = events.map((event, index) => atIndex(index, event, () => checkEvent(event, limits)));
  for (const [index, { event_type: type }] of events.entries()) {
    if (!ahpEvents[type].batchable) throw notBatchable(type, index);
  }
  return checked;
};
