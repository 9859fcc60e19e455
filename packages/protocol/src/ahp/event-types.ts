import * as z from "zod";
import { JsonValueSchema } from "../envelope/json.ts";
import { RunLifecycleSchema, TaskListSchema, VerificationSchema } from "./contracts.ts";
import {
  ConfirmationDecisionSchema,
  ContextPerceptionDecisionSchema,
  DecisionSchema,
  IdleDecisionSchema,
  IntentDetectionDecisionSchema,
  MemoryRecallDecisionSchema,
  PlanningDecisionSchema,
  RateLimitDecisionSchema,
  ReasoningDecisionSchema,
} from "./decisions.ts";
import {
  ConfirmationPayloadSchema,
  ContextPerceptionPayloadSchema,
  HeartbeatPayloadSchema,
  IdlePayloadSchema,
  IntentDetectionPayloadSchema,
  MemoryRecallPayloadSchema,
  PlanningPayloadSchema,
  RateLimitPayloadSchema,
  ReasoningPayloadSchema,
  SuccessPayloadSchema,
} from "./payloads.ts";

const generic = { specialised: false, batchable: true, contract: false, decision: DecisionSchema } as const;

/** A gate: a request, answered with the generic decision. */
const gate = <P extends z.ZodType>(payload: P) => ({ ...generic, blocking: true, payload }) as const;

/** A request with a decision of its own. */
const specialised = <P extends z.ZodType, D extends z.ZodType>(payload: P, decision: D) =>
  ({ blocking: true, specialised: true, batchable: false, contract: false, payload, decision }) as const;

/** A notification, which gets a generic decision in a batch. */
const telemetry = <P extends z.ZodType>(payload: P) => ({ ...generic, blocking: false, payload }) as const;

/** A notification whose payload a harness checks in any case. */
const contract = <P extends z.ZodType>(payload: P) => ({ ...telemetry(payload), contract: true }) as const;

/**
 * The events that an agent sends, and all that follows from their type (section "Event Types"): whether it waits for an
 * answer, whether that is a decision of the event's own, whether it may stand in a batch, whether it is a durable
 * contract whose payload every harness checks, and the schemas of payload and decision.
 */
export const ahpEvents = {
  pre_action: gate(JsonValueSchema),
  post_action: telemetry(JsonValueSchema),
  pre_prompt: gate(JsonValueSchema),
  post_response: telemetry(JsonValueSchema),
  session_start: telemetry(JsonValueSchema),
  session_end: telemetry(JsonValueSchema),
  error: telemetry(JsonValueSchema),
  heartbeat: telemetry(HeartbeatPayloadSchema),
  success: telemetry(SuccessPayloadSchema),
  idle: specialised(IdlePayloadSchema, IdleDecisionSchema),
  intent_detection: specialised(IntentDetectionPayloadSchema, IntentDetectionDecisionSchema),
  context_perception: specialised(ContextPerceptionPayloadSchema, ContextPerceptionDecisionSchema),
  memory_recall: specialised(MemoryRecallPayloadSchema, MemoryRecallDecisionSchema),
  planning: specialised(PlanningPayloadSchema, PlanningDecisionSchema),
  reasoning: specialised(ReasoningPayloadSchema, ReasoningDecisionSchema),
  rate_limit: specialised(RateLimitPayloadSchema, RateLimitDecisionSchema),
  confirmation: specialised(ConfirmationPayloadSchema, ConfirmationDecisionSchema),
  run_lifecycle: contract(RunLifecycleSchema),
  task_list: contract(TaskListSchema),
  verification: contract(VerificationSchema),
} as const;

/** The type of an event that can be sent with `ahp/event`. */
export type AhpEventType = keyof typeof ahpEvents;

/** The types of which something is true. */
type EventTypesWith<Field extends "blocking" | "batchable"> = {
  [T in AhpEventType]: (typeof ahpEvents)[T][Field] extends true ? T : never;
}[AhpEventType];

/** Events that are requests. */
export type BlockingEventType = EventTypesWith<"blocking">;
/** Events that are notifications. */
export type NotificationEventType = Exclude<AhpEventType, BlockingEventType>;
/** Events that may stand in a batch. */
export type BatchableEventType = EventTypesWith<"batchable">;

/** What a caller passes as the payload of an event of type `T`. */
export type EventPayloadInput<T extends AhpEventType> = z.input<(typeof ahpEvents)[T]["payload"]>;
/** What a handler gets as the payload of an event of type `T`. */
export type EventPayload<T extends AhpEventType> = z.output<(typeof ahpEvents)[T]["payload"]>;
/** The decision that answers an event of type `T`. */
export type DecisionFor<T extends AhpEventType> = z.output<(typeof ahpEvents)[T]["decision"]>;

const eventTypes = Object.keys(ahpEvents) as [AhpEventType, ...AhpEventType[]];

/** The types that `ahp/event` takes. */
export const AhpEventTypeSchema = z.enum(eventTypes);

/** Two further types of the protocol's taxonomy, both blocking: they have methods of their own and no event. */
export const methodEventTypes = ["handshake", "query"] as const;

/** The whole taxonomy (section "Event Types"): what `ahp/event` takes, and the two that are methods. */
export const AhpTaxonomySchema = z.enum([...methodEventTypes, ...eventTypes]);
